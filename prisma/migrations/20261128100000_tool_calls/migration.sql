-- The state of a tool call. UNKNOWN: the request was sent, and its outcome is not known.
CREATE TYPE "ToolCallStatus" AS ENUM ('RUNNING', 'COMPLETED', 'FAILED', 'UNKNOWN', 'WAITING', 'DENIED', 'EXPIRED', 'REFUSED');

-- The tool calls of runs. A call that may change something has its row before its request leaves.
CREATE TABLE "tool_calls" (
    "id" TEXT NOT NULL,
    "run_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "call_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "arguments" TEXT,
    "request" JSONB,
    "status" "ToolCallStatus" NOT NULL,
    "result" TEXT,
    "http_status" INTEGER,
    "idempotency_key" TEXT,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "tool_calls_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "tool_calls_run_id_position_idx" ON "tool_calls"("run_id", "position");

-- For the sweep of texts.
CREATE INDEX "tool_calls_texts_idx" ON "tool_calls"("id") WHERE arguments IS NOT NULL;

ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;
