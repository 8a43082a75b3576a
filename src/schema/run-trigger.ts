import { builder } from './builder.ts';
import { RunTriggerEnum } from './shared.ts';

builder.prismaObjectFields('Run', (t) => ({
  trigger: t.field({
    type: RunTriggerEnum,
    description: 'What began the run.',
    select: { causedById: true },
    resolve: ({ causedById }) => (causedById === null ? 'REQUEST' : 'APPROVAL'),
  }),
  causedById: t.exposeID('causedById', {
    nullable: true,
    description:
      'ID of the run whose tool call a person approved or denied, for the run that reports the outcome to the user. Null for a run with the trigger REQUEST. That run may be deleted.',
  }),
}));
