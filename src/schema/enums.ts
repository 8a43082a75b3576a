import { Channel, Environment } from '../generated/prisma/client.ts';
import { builder } from './builder.ts';

export const EnvironmentEnum = builder.enumType(Environment, {
  name: 'Environment',
  description: "Which of a bot's running definitions is meant.",
});

export const ChannelEnum = builder.enumType(Channel, {
  name: 'Channel',
  description: 'Where a message came from.',
});
