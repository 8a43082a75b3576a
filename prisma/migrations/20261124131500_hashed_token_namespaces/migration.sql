-- The namespaces of session tokens held the session's id, and outlive a forgotten session.
UPDATE idempotency_records
SET namespace = 'token:' || encode(sha256(convert_to(substr(namespace, 7), 'UTF8')), 'hex')
WHERE namespace LIKE 'token:%';
