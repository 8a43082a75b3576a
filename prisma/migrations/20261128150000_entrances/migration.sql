-- CreateEnum
CREATE TYPE "Entrance" AS ENUM ('REST', 'GRAPHQL', 'OPENAI', 'MCP', 'WEB', 'TELEGRAM');

-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "client" TEXT,
ADD COLUMN     "entrance" "Entrance";
