import { getOperationAST, parse } from 'graphql';
import * as chats from '../../src/operations/chat.ts';
import * as commands from '../../src/operations/command/operations.ts';
import { CONSOLE_DOCUMENTS } from '../../src/operations/console/documents.ts';
import * as deployments from '../../src/operations/deployments.ts';
import * as runs from '../../src/operations/runs.ts';

/** The documents of REST, of the console and of the command, with the names of their operations. */
export const STORED_DOCUMENTS = [
  ...Object.values({ ...chats, ...deployments, ...runs }).map(({ document }) => document),
  ...Object.values(commands).map(({ text }) => text),
  ...CONSOLE_DOCUMENTS,
].map((text) => ({ text, name: getOperationAST(parse(text))?.name?.value ?? '' }));
