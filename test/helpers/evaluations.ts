import { makeId } from '../../src/text/ids.ts';
import type { TestApp } from './app.ts';

const CALL = 'name arguments result failed';

/** Selects the attempts at a case, with all that they have. */
export const ATTEMPTS = `attempts { verdict error
  turns { message reply promptTokens completionTokens latencyMs calls { ${CALL} }
    expectations { line column expectation verdict detail } }
  comparison { outcome reason newReply judgePromptTokens judgeCompletionTokens feedback { rating note }
    callChanges { change name arguments recordedArguments }
    recorded { reply error promptTokens completionTokens latencyMs calls { ${CALL} } } } }`;

/** Stores an evaluation that has ended. @returns its id. */
export async function makeEvaluation(
  { prisma }: Pick<TestApp, 'prisma'>,
  botId: string,
): Promise<string> {
  const { accountId } = await prisma.bot.findUniqueOrThrow({ where: { id: botId } });
  const id = makeId('eva');
  await prisma.evaluation.create({
    data: {
      id,
      botId,
      accountId,
      environment: 'PRODUCTION',
      source: '',
      sourceHash: '0'.repeat(64),
      repeat: 1,
      status: 'COMPLETED',
      cases: 1,
      passed: 1,
      finishedAt: new Date(),
      results: {
        create: {
          id: makeId('eca'),
          position: 0,
          name: 'greets',
          line: 5,
          column: 3,
          finished: 1,
          passed: 1,
          verdict: 'PASSED',
          attempts: [{ verdict: 'PASSED', turns: [] }],
        },
      },
    },
  });
  return id;
}
