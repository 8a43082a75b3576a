-- CreateEnum
CREATE TYPE "Plan" AS ENUM ('FREE', 'PRO', 'BUSINESS', 'ENTERPRISE');

-- CreateEnum
CREATE TYPE "KeyScope" AS ENUM ('CHAT', 'DEPLOY', 'RUNS', 'ADMIN', 'OPERATOR');

-- CreateEnum
CREATE TYPE "Environment" AS ENUM ('PRODUCTION', 'STAGING');

-- CreateEnum
CREATE TYPE "DeploymentStatus" AS ENUM ('PENDING', 'DEPLOYED', 'FAILED');

-- CreateEnum
CREATE TYPE "RunStatus" AS ENUM ('QUEUED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED');

-- CreateEnum
CREATE TYPE "RunKind" AS ENUM ('CHAT', 'EXECUTE');

-- CreateEnum
CREATE TYPE "Channel" AS ENUM ('API', 'WEB', 'TELEGRAM');

-- CreateEnum
CREATE TYPE "OnDisconnect" AS ENUM ('CANCEL', 'CONTINUE');

-- CreateEnum
CREATE TYPE "MessageRole" AS ENUM ('USER', 'ASSISTANT', 'TOOL');

-- CreateTable
CREATE TABLE "installation" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "secret_key_check" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "installation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "accounts" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "plan" "Plan" NOT NULL,
    "requests_per_minute" INTEGER,
    "requests_per_day" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "accounts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "scopes" "KeyScope"[],
    "restricted" BOOLEAN NOT NULL DEFAULT false,
    "bot_ids" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "bots" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "bots_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "deployments" (
    "id" TEXT NOT NULL,
    "bot_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "status" "DeploymentStatus" NOT NULL,
    "message" TEXT,
    "source" TEXT,
    "definition" JSONB,
    "env_names" TEXT[],
    "env_vars" BYTEA,
    "channels" "Channel"[],
    "diagnostics" JSONB NOT NULL DEFAULT '[]',
    "rolled_back_to_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deployed_at" TIMESTAMPTZ(3),

    CONSTRAINT "deployments_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "active_deployments" (
    "bot_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "deployment_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "active_deployments_pkey" PRIMARY KEY ("bot_id","environment")
);

-- CreateTable
CREATE TABLE "sessions" (
    "id" TEXT NOT NULL,
    "bot_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "session_id" TEXT NOT NULL,
    "turns" INTEGER NOT NULL DEFAULT 0,
    "lease_owner" TEXT,
    "lease_expires_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "messages" (
    "id" TEXT NOT NULL,
    "session_key" TEXT NOT NULL,
    "run_id" TEXT NOT NULL,
    "turn" INTEGER NOT NULL,
    "position" INTEGER NOT NULL,
    "role" "MessageRole" NOT NULL,
    "text" TEXT NOT NULL,
    "tool_calls" JSONB,
    "tool_call_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "messages_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "memory_entries" (
    "session_key" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "memory_entries_pkey" PRIMARY KEY ("session_key","name")
);

-- CreateTable
CREATE TABLE "runs" (
    "id" TEXT NOT NULL,
    "bot_id" TEXT NOT NULL,
    "deployment_id" TEXT,
    "environment" "Environment" NOT NULL,
    "kind" "RunKind" NOT NULL,
    "status" "RunStatus" NOT NULL,
    "channel" "Channel" NOT NULL,
    "session_id" TEXT,
    "input" TEXT NOT NULL,
    "context" JSONB,
    "response" TEXT,
    "error_code" TEXT,
    "error_message" TEXT,
    "model" TEXT,
    "metadata" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "latency_ms" INTEGER,
    "prompt_tokens" INTEGER NOT NULL DEFAULT 0,
    "completion_tokens" INTEGER NOT NULL DEFAULT 0,
    "tokens_estimated" BOOLEAN NOT NULL DEFAULT false,
    "tools_called" TEXT[],
    "trace_id" TEXT,
    "on_disconnect" "OnDisconnect" NOT NULL DEFAULT 'CANCEL',
    "owner_id" TEXT,
    "attempt" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "runs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "run_events" (
    "run_id" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "events" JSONB NOT NULL,
    "last_seq" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "run_events_pkey" PRIMARY KEY ("run_id")
);

-- CreateTable
CREATE TABLE "spans" (
    "run_id" TEXT NOT NULL,
    "span_id" TEXT NOT NULL,
    "parent_id" TEXT,
    "name" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(6) NOT NULL,
    "duration_ms" DOUBLE PRECISION NOT NULL,
    "status" TEXT NOT NULL,
    "attributes" JSONB NOT NULL,

    CONSTRAINT "spans_pkey" PRIMARY KEY ("run_id","span_id")
);

-- CreateTable
CREATE TABLE "run_owners" (
    "id" TEXT NOT NULL,
    "heartbeat_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "run_owners_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_records" (
    "account_id" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "run_id" TEXT,
    "deployment_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_records_pkey" PRIMARY KEY ("account_id","key")
);

-- CreateTable
CREATE TABLE "channel_states" (
    "bot_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "channel" "Channel" NOT NULL,
    "deployment_id" TEXT,
    "connected" BOOLEAN NOT NULL DEFAULT false,
    "secret" BYTEA,
    "error" TEXT,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "channel_states_pkey" PRIMARY KEY ("bot_id","environment","channel")
);

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");

-- CreateIndex
CREATE INDEX "api_keys_account_id_created_at_id_idx" ON "api_keys"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "bots_account_id_created_at_id_idx" ON "bots"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "deployments_bot_id_created_at_id_idx" ON "deployments"("bot_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "deployments_rolled_back_to_id_idx" ON "deployments"("rolled_back_to_id");

-- CreateIndex
CREATE INDEX "active_deployments_deployment_id_idx" ON "active_deployments"("deployment_id");

-- CreateIndex
CREATE INDEX "sessions_bot_id_created_at_id_idx" ON "sessions"("bot_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "sessions_bot_id_environment_session_id_key" ON "sessions"("bot_id", "environment", "session_id");

-- CreateIndex
CREATE INDEX "messages_run_id_idx" ON "messages"("run_id");

-- CreateIndex
CREATE UNIQUE INDEX "messages_session_key_turn_position_key" ON "messages"("session_key", "turn", "position");

-- CreateIndex
CREATE INDEX "runs_bot_id_created_at_id_idx" ON "runs"("bot_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "runs_bot_id_session_id_created_at_id_idx" ON "runs"("bot_id", "session_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "runs_bot_id_status_created_at_id_idx" ON "runs"("bot_id", "status", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "runs_bot_id_channel_created_at_id_idx" ON "runs"("bot_id", "channel", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "runs_deployment_id_created_at_id_idx" ON "runs"("deployment_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "runs_status_owner_id_idx" ON "runs"("status", "owner_id");

-- CreateIndex
CREATE INDEX "runs_created_at_idx" ON "runs"("created_at");

-- CreateIndex
CREATE INDEX "run_events_expires_at_idx" ON "run_events"("expires_at");

-- CreateIndex
CREATE INDEX "run_owners_heartbeat_at_idx" ON "run_owners"("heartbeat_at");

-- CreateIndex
CREATE INDEX "idempotency_records_expires_at_idx" ON "idempotency_records"("expires_at");

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "bots" ADD CONSTRAINT "bots_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deployments" ADD CONSTRAINT "deployments_bot_id_fkey" FOREIGN KEY ("bot_id") REFERENCES "bots"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deployments" ADD CONSTRAINT "deployments_rolled_back_to_id_fkey" FOREIGN KEY ("rolled_back_to_id") REFERENCES "deployments"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "active_deployments" ADD CONSTRAINT "active_deployments_bot_id_fkey" FOREIGN KEY ("bot_id") REFERENCES "bots"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "active_deployments" ADD CONSTRAINT "active_deployments_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployments"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_bot_id_fkey" FOREIGN KEY ("bot_id") REFERENCES "bots"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "messages" ADD CONSTRAINT "messages_session_key_fkey" FOREIGN KEY ("session_key") REFERENCES "sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "messages" ADD CONSTRAINT "messages_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "memory_entries" ADD CONSTRAINT "memory_entries_session_key_fkey" FOREIGN KEY ("session_key") REFERENCES "sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "runs" ADD CONSTRAINT "runs_bot_id_fkey" FOREIGN KEY ("bot_id") REFERENCES "bots"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "runs" ADD CONSTRAINT "runs_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployments"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run_events" ADD CONSTRAINT "run_events_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "spans" ADD CONSTRAINT "spans_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "idempotency_records" ADD CONSTRAINT "idempotency_records_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "channel_states" ADD CONSTRAINT "channel_states_bot_id_fkey" FOREIGN KEY ("bot_id") REFERENCES "bots"("id") ON DELETE CASCADE ON UPDATE CASCADE;
