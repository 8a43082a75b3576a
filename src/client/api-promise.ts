import type { Answer } from './connection.ts';

/** The data of a response. `withResponse` also gives the response, for its status and headers. */
export type ApiPromise<Data> = Promise<Data> & { withResponse(): Promise<Answer<Data>> };

export function apiPromise<Data>(answer: Promise<Answer<Data>>): ApiPromise<Data> {
  const data = answer.then(({ data }) => data);
  return Object.assign(data, {
    withResponse() {
      // The caller handles the rejection of `answer`, so the rejection of `data` is handled too.
      data.catch(() => {});
      return answer;
    },
  });
}
