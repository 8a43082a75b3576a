-- A value for later statements: a transaction cannot use a value that it has added.
ALTER TYPE "AuditAction" ADD VALUE 'DEPLOY_FAILED';
