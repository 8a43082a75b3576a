-- CreateTable
CREATE TABLE "run_prompts" (
    "run_id" TEXT NOT NULL,
    "prompt" JSONB NOT NULL,

    CONSTRAINT "run_prompts_pkey" PRIMARY KEY ("run_id")
);

-- AddForeignKey
ALTER TABLE "run_prompts" ADD CONSTRAINT "run_prompts_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;
