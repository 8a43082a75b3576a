-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "event_times" INTEGER[];
