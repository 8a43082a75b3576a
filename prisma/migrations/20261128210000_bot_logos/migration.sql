-- The hash of the logo, so that the chat page names the logo without a further statement.
ALTER TABLE "bots" ADD COLUMN "logo_hash" TEXT;

CREATE TABLE "bot_logos" (
    "bot_id" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "media_type" TEXT NOT NULL,
    "content" BYTEA NOT NULL,

    CONSTRAINT "bot_logos_pkey" PRIMARY KEY ("bot_id")
);

ALTER TABLE "bot_logos" ADD CONSTRAINT "bot_logos_bot_id_fkey" FOREIGN KEY ("bot_id") REFERENCES "bots"("id") ON DELETE CASCADE ON UPDATE CASCADE;
