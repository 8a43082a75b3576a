-- Values for later statements: a transaction cannot use a value that it has added.
ALTER TYPE "KeyScope" ADD VALUE 'APPROVE';
ALTER TYPE "AuditAction" ADD VALUE 'ASK_APPROVAL';
ALTER TYPE "AuditAction" ADD VALUE 'APPROVE_CALL';
ALTER TYPE "AuditAction" ADD VALUE 'DENY_CALL';
ALTER TYPE "AuditAction" ADD VALUE 'EXPIRE_APPROVAL';
ALTER TYPE "MessageRole" ADD VALUE 'SYSTEM';

-- The run whose tool call a decision of a person has settled. No foreign key: the run may outlive it.
ALTER TABLE "runs" ADD COLUMN "caused_by_id" TEXT;

-- The state of an approval. Every state but WAITING is final.
CREATE TYPE "ApprovalStatus" AS ENUM ('WAITING', 'APPROVED', 'DENIED', 'EXPIRED');

-- The tool calls that wait for a person, or that a person has decided.
CREATE TABLE "approvals" (
    "id" TEXT NOT NULL,
    "bot_id" TEXT NOT NULL,
    "run_id" TEXT NOT NULL,
    "deployment_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "channel" "Channel" NOT NULL,
    "session_id" TEXT,
    "background" BOOLEAN NOT NULL,
    "key_id" TEXT,
    "name" TEXT NOT NULL,
    "reason" TEXT,
    "arguments" TEXT,
    "edited_arguments" TEXT,
    "request" JSONB,
    "values" JSONB NOT NULL,
    "digest" TEXT NOT NULL,
    "status" "ApprovalStatus" NOT NULL DEFAULT 'WAITING',
    "note" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "decided_at" TIMESTAMPTZ(3),
    "decided_by_id" TEXT,
    "decided_in_chat" BIGINT,
    "settled_at" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "available_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "owner_id" TEXT,
    "follow_up_id" TEXT,

    CONSTRAINT "approvals_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "approvals_list_idx" ON "approvals"("bot_id", "created_at" DESC, "id" DESC, "status");

-- For the waiting calls of a session, and for the number of a bot's waiting calls.
CREATE INDEX "approvals_waiting_idx" ON "approvals"("bot_id", "session_id", "digest") WHERE status = 'WAITING';

-- For the expiry.
CREATE INDEX "approvals_expiry_idx" ON "approvals"("expires_at") WHERE status = 'WAITING';

-- For the work that follows a decision.
CREATE INDEX "approvals_work_idx" ON "approvals"("available_at") WHERE settled_at IS NULL AND decided_at IS NOT NULL;

ALTER TABLE "approvals" ADD CONSTRAINT "approvals_id_fkey" FOREIGN KEY ("id") REFERENCES "tool_calls"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "approvals" ADD CONSTRAINT "approvals_bot_id_fkey" FOREIGN KEY ("bot_id") REFERENCES "bots"("id") ON DELETE CASCADE ON UPDATE CASCADE;
