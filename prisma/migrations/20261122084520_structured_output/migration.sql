-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "output" JSONB,
ADD COLUMN     "output_schema" JSONB;
