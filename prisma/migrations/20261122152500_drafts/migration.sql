-- AlterEnum
ALTER TYPE "RunKind" ADD VALUE 'DRAFT';
