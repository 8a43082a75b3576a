-- CreateTable
CREATE TABLE "deleted_bots" (
    "id" TEXT NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "deleted_bots_pkey" PRIMARY KEY ("id")
);
