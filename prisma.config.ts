import { defineConfig } from 'prisma/config';

// Parley generates its client and applies its migrations without Prisma's native schema engine, which is
// not on npm. Naming any executable here keeps the command line tool from downloading one.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;

export default defineConfig({ schema: 'prisma/schema.prisma' });
