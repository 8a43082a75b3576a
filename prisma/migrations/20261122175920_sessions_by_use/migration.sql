-- DropIndex
DROP INDEX "sessions_bot_id_created_at_id_idx";
