/**
 * A part of `npm run generate`: writes the database client and Pothos' types from `prisma/schema.prisma`, by the packages
 * that Prisma's command is made of. The command itself would bring a studio and a development server of 180 MB.
 *
 * Node.js can load these packages only as CommonJS: the paths in their ES modules have no extensions.
 */
const { join } = require('node:path');
const { PrismaClientTsGenerator } = require('@prisma/client-generator-ts');
const { getGenerators, loadSchemaContext } = require('@prisma/internals');

const SCHEMA = join(__dirname, '../../prisma/schema.prisma');

async function generate() {
  const generators = await getGenerators({
    schemaContext: await loadSchemaContext({
      schemaPath: { cliProvidedPath: SCHEMA },
      printLoadMessage: false,
    }),
    registry: { 'prisma-client': { type: 'in-process', generator: new PrismaClientTsGenerator() } },
    cliCommand: 'generate',
    skipDownload: true,
  });
  for (const generator of generators) {
    await generator.generate();
    generator.stop();
  }
}

void generate();
