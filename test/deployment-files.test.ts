import { readFileSync } from 'node:fs';
import { BlockList } from 'node:net';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import packageJson from '../package.json' with { type: 'json' };
import { readConfig } from '../src/config.ts';

const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');

/** Longer than Parley's shutdown limit, `CLOSE_LIMIT_MS` of `server.ts`. */
const STOP_SECONDS = 30;
const IMAGE = `parley:${packageJson.version}`;

describe('the Dockerfile', () => {
  const stages = read('Dockerfile').split(/^(?=FROM )/m);
  const [, build = '', image = ''] = stages;

  test('builds in one stage, without development dependencies, and copies the result into another', () => {
    expect(stages).toHaveLength(3);
    expect(build).toMatch(/^RUN npm ci --omit=dev/m);
    expect(image).toMatch(/^COPY --from=build /m);
    expect(image).not.toMatch(/npm/);
  });

  test('copies nothing that `.dockerignore` excludes', () => {
    const admitted = read('.dockerignore').split('\n');
    const copied = [...build.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, names = '']) =>
      names.split(' '),
    );
    expect(copied).toContain('vite.config.ts');
    expect(copied.filter((name) => !admitted.includes(`!${name}`))).toEqual([]);
  });

  test('runs as a user without write access to the code, and as the process that receives signals', () => {
    const lines = image.split('\n');
    const [user, copy, start] = ['USER node', 'COPY ', 'CMD ["node", '].map((line) =>
      lines.findLastIndex((candidate) => candidate.startsWith(line)),
    );
    expect(copy).toBeGreaterThan(0);
    expect(user).toBeGreaterThan(copy ?? 0);
    expect(start).toBeGreaterThan(user ?? 0);
    expect(image).not.toContain('--chown');
  });

  test('has a health check that fails if the request fails', () => {
    expect(image).toMatch(/^HEALTHCHECK .*\\\n {2}CMD \["node", "-e", ".*\/healthz/m);
  });

  test('runs on the same major of Node.js as the dependency `node`', () => {
    const major = /\d+/.exec(packageJson.dependencies.node)?.[0];
    expect([...stages.join('').matchAll(/^FROM node:(\d+)/gm)].map(([, one]) => one)).toEqual([
      major,
      major,
    ]);
  });
});

const seconds = z
  .string()
  .regex(/^\d+s$/)
  .transform((text) => Number(text.slice(0, -1)));
const parleyService = z.object({
  image: z.literal(IMAGE),
  build: z.literal('.'),
  read_only: z.literal(true),
  cap_drop: z.tuple([z.literal('ALL')]),
  stop_grace_period: seconds.refine((time) => time > STOP_SECONDS),
  environment: z.record(z.string(), z.string()),
  depends_on: z.record(z.string(), z.object({ condition: z.literal('service_healthy') })),
});

describe('compose.yaml', () => {
  const compose = z
    .object({
      services: z.object({
        'parley-1': parleyService,
        'parley-2': parleyService,
        proxy: z.object({
          networks: z.object({ default: z.object({ ipv4_address: z.ipv4() }) }),
        }),
        postgres: z.object({ healthcheck: z.object({ test: z.array(z.string()) }) }),
        redis: z.object({ healthcheck: z.object({ test: z.array(z.string()) }) }),
      }),
      configs: z.object({ caddyfile: z.object({ content: z.string() }) }),
      networks: z.object({
        default: z.object({
          ipam: z.object({
            config: z.tuple([z.object({ subnet: z.cidrv4(), ip_range: z.cidrv4() })]),
          }),
        }),
      }),
    })
    .parse(parse(read('compose.yaml'), { merge: true }));

  /** A text as compose writes it, with these variables. */
  const interpolate = (text: string, variables: Record<string, string>) =>
    text.replaceAll(
      /\$\{(\w+):[-?]([^}]*)\}/g,
      (_all, name: string, fallback: string) => variables[name] ?? fallback,
    );

  test('gives both processes the same settings, which Parley accepts', () => {
    const { 'parley-1': first, 'parley-2': second } = compose.services;
    expect(second).toEqual(first);
    const given: Record<string, string> = {
      POSTGRES_PASSWORD: 'secret',
      PARLEY_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
    };
    const environment = Object.entries(first.environment).map(([name, value]) => [
      name,
      interpolate(value, given),
    ]);
    expect(readConfig(Object.fromEntries(environment))).toMatchObject({
      databaseUrl: 'postgresql://parley:secret@postgres:5432/parley',
      redisUrl: 'redis://redis:6379',
    });
  });

  test.each([
    [{}, '127.0.0.1'],
    [{ FRONT_PROXY: '172.28.0.1' }, '172.28.0.1'],
  ])(
    'trusts the headers of its own proxy and of the one in front of it alone: %j',
    (variables, front) => {
      const { proxy, 'parley-1': parley } = compose.services;
      const own = proxy.networks.default.ipv4_address;
      const trusted = interpolate(parley.environment.TRUST_PROXY ?? '', variables);
      expect(trusted.split(',')).toEqual([own, front]);
      const caddyfile = interpolate(compose.configs.caddyfile.content, variables);
      expect(caddyfile.match(/trusted_proxies.*/g)).toEqual([
        `trusted_proxies static ${front}`,
        'trusted_proxies_strict',
      ]);
      // Neither has an exception that lets the headers of a client pass.
      expect(caddyfile).not.toMatch(/header_up|private_ranges/);
      // No other container gets the address of the proxy.
      const [{ subnet, ip_range }] = compose.networks.default.ipam.config;
      const within = (network: string) => {
        const list = new BlockList();
        const [address = '', bits] = network.split('/');
        list.addSubnet(address, Number(bits));
        return list.check(own);
      };
      expect([within(subnet), within(ip_range)]).toEqual([true, false]);
    },
  );

  test('balances between both according to their readiness', () => {
    const { content } = compose.configs.caddyfile;
    expect(content).toContain('reverse_proxy parley-1:4000 parley-2:4000');
    expect(content).toContain('health_uri /readyz');
  });
});

const probe = z.object({
  httpGet: z.object({ path: z.enum(['/healthz', '/readyz']), port: z.literal('http') }),
});
const selector = z.object({ matchLabels: z.record(z.string(), z.string()) });

describe('the Kubernetes manifests', () => {
  const text = /```yaml\n(apiVersion: .*?)```/s.exec(read('docs/operations.md'))?.[1] ?? '';
  const [deployment, service, budget] = z
    .tuple([
      z.object({
        kind: z.literal('Deployment'),
        spec: z.object({
          replicas: z.number().min(2),
          selector,
          template: z.object({
            metadata: z.object({ labels: z.record(z.string(), z.string()) }),
            spec: z.object({
              terminationGracePeriodSeconds: z.number(),
              securityContext: z.object({ runAsNonRoot: z.literal(true) }),
              containers: z.tuple([
                z.object({
                  image: z.literal(IMAGE),
                  env: z.array(z.object({ name: z.string(), value: z.string() })),
                  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
                  startupProbe: probe,
                  livenessProbe: probe,
                  readinessProbe: probe,
                  lifecycle: z.object({
                    preStop: z.object({ sleep: z.object({ seconds: z.number() }) }),
                  }),
                  securityContext: z.object({
                    allowPrivilegeEscalation: z.literal(false),
                    readOnlyRootFilesystem: z.literal(true),
                  }),
                }),
              ]),
            }),
          }),
        }),
      }),
      z.object({
        kind: z.literal('Service'),
        spec: z.object({
          selector: z.record(z.string(), z.string()),
          ports: z.array(z.object({ targetPort: z.string() })),
        }),
      }),
      z.object({
        kind: z.literal('PodDisruptionBudget'),
        spec: z.object({ maxUnavailable: z.number(), selector }),
      }),
    ])
    .parse(parseAllDocuments(text).map((document) => document.toJS()));
  const { template, replicas } = deployment.spec;
  const [container] = template.spec.containers;

  test('select the pods of the deployment', () => {
    const { labels } = template.metadata;
    expect(deployment.spec.selector.matchLabels).toEqual(labels);
    expect(service.spec.selector).toEqual(labels);
    expect(budget.spec.selector.matchLabels).toEqual(labels);
    expect(budget.spec.maxUnavailable).toBeLessThan(replicas);
    const ports = container.ports.map(({ name }) => name);
    expect(service.spec.ports.map(({ targetPort }) => targetPort)).toEqual(ports);
  });

  test('use readiness for requests, and liveness for restarts', () => {
    expect(container.readinessProbe.httpGet.path).toBe('/readyz');
    expect(container.livenessProbe.httpGet.path).toBe('/healthz');
    expect(container.startupProbe.httpGet.path).toBe('/healthz');
  });

  test('give a process time to shut down after balancers have noticed', () => {
    const { seconds: pause } = container.lifecycle.preStop.sleep;
    expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThan(pause + STOP_SECONDS);
  });

  test('contain settings that Parley accepts', () => {
    const environment = container.env.map(({ name, value }) => [name, value]);
    expect(readConfig(Object.fromEntries(environment)).metrics?.port).toBe(9464);
  });
});
