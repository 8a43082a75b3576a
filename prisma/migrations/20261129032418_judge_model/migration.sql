-- AlterTable
ALTER TABLE "evaluations" ADD COLUMN     "judge_model" TEXT;
