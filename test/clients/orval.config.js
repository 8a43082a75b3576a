/** Takes the server's address from the document. */
export default {
  parley: {
    input: `${process.env.PARLEY_URL}/v1/openapi.json`,
    output: {
      target: 'generated/orval.ts',
      client: 'fetch',
      baseUrl: { getBaseUrlFromSpecification: true },
    },
  },
};
