import { expect, test } from 'vitest';
import { approvalText } from '../../../src/channels/telegram/approval-text.ts';

const APPROVAL = {
  id: 'tcl_1',
  name: 'shop.cancel',
  reason: null,
  arguments: '{"order_id":"A-1"}',
  editedArguments: null,
  sessionId: null,
  status: 'WAITING',
  note: null,
  decidedAt: null,
  decidedInChat: null,
  expiresAt: new Date('2026-11-29T10:00:00Z'),
} as const;

test.each([
  [
    { method: 'DELETE', url: 'https://api.example/orders/A-1' },
    'DELETE https://api.example/orders/A-1',
  ],
  [
    { method: 'POST', url: 'https://api.example/orders', body: '{"a":1}' },
    'POST https://api.example/orders with {"a":1}',
  ],
  [null, 'shop.cancel with {"order_id":"A-1"}'],
])('a message about an approval shows the request %j', (request, line) => {
  const { plain } = approvalText({ ...APPROVAL, request }, 42);
  expect(plain.split('\n')).toContain(line);
});
