import { getOperationAST, parse } from 'graphql';
import { PERSISTED } from '../../src/generated/operations/persisted.ts';

/** The documents of REST, of the console and of the command, with the names of their operations. */
export const STORED_DOCUMENTS = Object.values(PERSISTED).map((text) => ({
  text,
  name: getOperationAST(parse(text))?.name?.value ?? '',
}));
