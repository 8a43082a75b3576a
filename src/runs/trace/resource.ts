import { randomUUID } from 'node:crypto';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { VERSION } from '../../text/version.ts';

/** Attributes of the process that makes the traces. */
export type ResourceAttributes = Record<string, string>;

/**
 * Describes this process to a collector.
 *
 * @param attributes the operator's, which win. `deployment.environment.name` is one of them: only the operator knows it.
 *
 * Source: https://opentelemetry.io/docs/specs/semconv/resource/
 */
export function createResource(attributes: ResourceAttributes = {}): Resource {
  return resourceFromAttributes({
    'service.name': 'parley',
    'service.version': VERSION,
    'service.instance.id': randomUUID(),
    ...attributes,
  });
}
