-- The messages about approvals in the chats of Telegram that decide about them. A row exists from the question on.
CREATE TABLE "approval_messages" (
    "approval_id" TEXT NOT NULL,
    "chat_id" BIGINT NOT NULL,
    "message_id" BIGINT,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "available_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "owner_id" TEXT,
    "done_at" TIMESTAMPTZ(3),

    CONSTRAINT "approval_messages_pkey" PRIMARY KEY ("approval_id", "chat_id")
);

-- For the messages to send or to edit.
CREATE INDEX "approval_messages_work_idx" ON "approval_messages"("available_at") WHERE done_at IS NULL;

ALTER TABLE "approval_messages" ADD CONSTRAINT "approval_messages_approval_id_fkey" FOREIGN KEY ("approval_id") REFERENCES "approvals"("id") ON DELETE CASCADE ON UPDATE CASCADE;
