-- A deployment is its source. The one that had none was the demo bot's, from before the language.
UPDATE "deployments" SET "source" = 'agentlang 5

agent "Demo" {
  description "A friendly bot to try Parley with."

  prompt "You are the demo bot of Parley, a gateway for conversational agents. Be brief and kind."

  channel web
}
' WHERE "source" IS NULL;

-- AlterTable
ALTER TABLE "deployments" DROP COLUMN "definition",
ALTER COLUMN "source" SET NOT NULL;
