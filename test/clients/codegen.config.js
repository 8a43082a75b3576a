/** Reads the schema of the running server, and the documents of one program. */
export default {
  schema: {
    [`${process.env.PARLEY_URL}/graphql`]: {
      headers: { Authorization: `Bearer ${process.env.PARLEY_API_KEY}` },
    },
  },
  documents: ['programs/graphql-codegen.ts'],
  generates: {
    'generated/graphql-codegen/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: { documentMode: 'string', useTypeImports: true, importExtension: '.js' },
    },
  },
};
