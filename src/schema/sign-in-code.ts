import { builder } from './builder.ts';

builder.mutationField('createSignInCode', (t) =>
  t.field({
    type: builder.simpleObject('CreateSignInCodePayload', {
      description: 'A code that signs in to the console.',
      fields: (payload) => ({
        code: payload.string({
          description:
            'Code for the address `/sign-in#code=` of the console. It works once, within 15 minutes, and has the rights of the API key. It ends with the key, and with the console session that creates it.',
        }),
      }),
    }),
    description:
      'Creates a code that signs a browser in to the console in place of the API key. Session tokens cannot create one.',
    authScopes: { authenticated: true },
    resolve: async (_root, _args, { caller, signInCodes }) => {
      const { key, consoleSession } = caller();
      return { code: await signInCodes.issue(key.id, consoleSession) };
    },
  }),
);
