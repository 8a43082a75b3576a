import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { BlockList } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import packageJson from '../package.json' with { type: 'json' };
import { readConfig } from '../src/start/config.ts';
import { environmentVariables, SECRET_SETTINGS } from '../src/start/environment-variables.ts';
import { fileSetting } from '../src/start/secret-files.ts';
import { temporaryDirectory } from './helpers/directories.ts';
import { imageVariables } from './helpers/dockerfile.ts';

const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');

/** Parley's shutdown limit with the default settings: the drain, and `STREAMS_MS` and `CLOSE_LIMIT_MS` of `start/server.ts`. */
const STOP_SECONDS = 25 + 5 + 10;
/** Bytes of the heap that a process needs without any stream. */
const HEAP_AT_START = 200_000_000;
const IMAGE = `parley:${packageJson.version}`;

describe('the Dockerfile', () => {
  const stages = read('Dockerfile').split(/^(?=FROM )/m);
  const [, build = '', image = ''] = stages;

  test('builds in one stage, without development dependencies, and copies the result into another', () => {
    expect(stages).toHaveLength(3);
    expect(build).toMatch(/^RUN npm ci && npm prune --omit=dev --omit=optional/m);
    expect(image).toMatch(/^COPY --from=build /m);
    expect(image).not.toMatch(/npm/);
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
  mem_limit: z
    .string()
    .regex(/^\d+m$/)
    .transform((text) => Number(text.slice(0, -1))),
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

  /** A text as compose writes it, with these variables. Source: the Compose specification, "Interpolation". */
  const interpolate = (text: string, variables: Record<string, string>): string =>
    text.replaceAll(
      /\$(?:(\w+)|\{(\w+)(:?)([-?])([^}]*)\})/g,
      (_all, plain, name = plain, colon = '', operator = '-', fallback = '') => {
        const value = variables[name];
        if (value !== undefined && (value || !colon)) return value;
        if (operator === '?') throw new Error(`${name}: ${fallback}`);
        return interpolate(fallback, variables);
      },
    );
  const environmentWith = (variables: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(compose.services['parley-1'].environment).map(([name, value]) => [
        name,
        interpolate(value, variables),
      ]),
    );

  test('gives both processes the same settings, which Parley accepts', () => {
    const { 'parley-1': first, 'parley-2': second } = compose.services;
    expect(second).toEqual(first);
    const given: Record<string, string> = {
      POSTGRES_PASSWORD: 'secret',
      PARLEY_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
    };
    expect(readConfig(environmentWith(given))).toMatchObject({
      databaseUrl: 'postgresql://parley:secret@postgres:5432/parley',
      redisUrl: 'redis://redis:6379',
    });
  });

  test('passes every setting that the image does not set itself, and each secret as a file too', () => {
    const settings = Object.keys(environmentVariables.shape);
    const passed = [
      ...Object.keys(compose.services['parley-1'].environment),
      ...imageVariables().map(([name]) => name),
    ];
    const wanted = [...settings, ...SECRET_SETTINGS.map(fileSetting)];
    expect(wanted.filter((name) => !passed.includes(name))).toEqual([]);
  });

  test('takes every setting from the variable of its name', () => {
    const own = ['NODE_OPTIONS', 'TRUST_PROXY'];
    const names = Object.keys(compose.services['parley-1'].environment);
    const given = Object.fromEntries(names.map((name) => [name, `value of ${name}`]));
    const { NODE_OPTIONS, TRUST_PROXY, ...others } = environmentWith(given);
    const kept = Object.entries(given).filter(([name]) => !own.includes(name));
    expect(others).toEqual(Object.fromEntries(kept));
  });

  test('takes secrets from files, if the variables of their values are empty', async () => {
    const file = join(await temporaryDirectory(), 'key');
    await writeFile(file, `${Buffer.alloc(32, 1).toString('base64')}\n`);
    const empty = { POSTGRES_PASSWORD: 'secret', PARLEY_SECRET_KEY: '' };
    const environment = environmentWith({ ...empty, PARLEY_SECRET_KEY_FILE: file });
    expect(readConfig(environment).secretKey).toEqual(Buffer.alloc(32, 1));
  });

  test('is set up by lines that never change what is in `.env`', async () => {
    const block = /```sh skip\n(touch \.env.*?)```/s.exec(read('docs/operations.md'))?.[1] ?? '';
    const lines = block.split('\n').filter((line) => line && !line.startsWith('docker '));
    expect(lines.length).toBeGreaterThan(1);
    for (const before of ['', 'PUBLIC_URL=https://a.example', 'POSTGRES_PASSWORD=kept\n']) {
      const cwd = await temporaryDirectory();
      const path = join(cwd, '.env');
      await writeFile(path, before);
      const setUp = () => promisify(execFile)('bash', ['-euc', lines.join('\n')], { cwd });
      await setUp();
      const text = await readFile(path, 'utf8');
      expect(text.startsWith(before)).toBe(true);
      const names = text.split('\n').flatMap((line) => line.split('=')[0] || []);
      const added = ['PARLEY_SECRET_KEY', 'POSTGRES_PASSWORD'];
      const own = before.startsWith('PUBLIC_URL') ? ['PUBLIC_URL'] : [];
      expect(names.sort()).toEqual([...added, ...own]);
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      await setUp();
      expect(await readFile(path, 'utf8')).toBe(text);
    }
  });

  test('has memory for 10,000 event streams of 46 KB', () => {
    const { mem_limit: limit, environment } = compose.services['parley-1'];
    const heap = Number(/=(\d+)\}/.exec(environment.NODE_OPTIONS ?? '')?.[1]);
    expect(heap * 2 ** 20).toBeGreaterThan(10_000 * 46_000 + HEAP_AT_START);
    expect(limit).toBeGreaterThanOrEqual(heap + 512);
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
/** Mebibytes. */
const quantity = z
  .string()
  .regex(/^\d+Mi$/)
  .transform((text) => Number(text.slice(0, -2)));

describe('the Kubernetes manifests', () => {
  const text = /```yaml\n(apiVersion: .*?)```/s.exec(read('docs/operations.md'))?.[1] ?? '';
  const [deployment, service, budget, monitor] = z
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
              securityContext: z.object({
                runAsNonRoot: z.literal(true),
                runAsUser: z.literal(1_000),
                fsGroup: z.literal(1_000),
              }),
              volumes: z.tuple([z.object({ name: z.string(), emptyDir: z.object({}) })]),
              containers: z.tuple([
                z.object({
                  image: z.literal(IMAGE),
                  env: z.array(z.object({ name: z.string(), value: z.string() })),
                  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
                  startupProbe: probe,
                  livenessProbe: probe,
                  readinessProbe: probe,
                  volumeMounts: z.tuple([
                    z.strictObject({ name: z.string(), mountPath: z.string() }),
                  ]),
                  resources: z.object({
                    requests: z.object({ cpu: z.string(), memory: quantity }),
                    limits: z.object({ memory: quantity }),
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
        metadata: z.object({ labels: z.record(z.string(), z.string()) }),
        spec: z.object({
          selector: z.record(z.string(), z.string()),
          ports: z.array(z.object({ name: z.string(), targetPort: z.string() })),
        }),
      }),
      z.object({
        kind: z.literal('PodDisruptionBudget'),
        spec: z.object({ maxUnavailable: z.number(), selector }),
      }),
      z.object({
        apiVersion: z.literal('monitoring.coreos.com/v1'),
        kind: z.literal('ServiceMonitor'),
        spec: z.object({
          selector,
          endpoints: z.tuple([z.object({ port: z.string(), path: z.literal('/metrics') })]),
        }),
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
    expect(service.metadata.labels).toEqual(monitor.spec.selector.matchLabels);
    expect(service.spec.ports.map(({ name }) => name)).toContain(monitor.spec.endpoints[0].port);
  });

  test('use readiness for requests, and liveness for restarts', () => {
    expect(container.readinessProbe.httpGet.path).toBe('/readyz');
    expect(container.livenessProbe.httpGet.path).toBe('/healthz');
    expect(container.startupProbe.httpGet.path).toBe('/healthz');
  });

  const environment = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));

  test('give a process time to shut down after balancers have noticed', () => {
    const { drainDelaySeconds } = readConfig(environment);
    expect(drainDelaySeconds).toBeGreaterThan(0);
    expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThan(
      drainDelaySeconds + STOP_SECONDS,
    );
  });

  test('give the server a place for the operator key, the only one that it writes to', () => {
    const [{ name, mountPath }] = container.volumeMounts;
    expect(name).toBe(template.spec.volumes[0].name);
    expect(Object.fromEntries(imageVariables()).PARLEY_DATA_DIR).toBe(mountPath);
  });

  test('have memory for 10,000 event streams of 46 KB', () => {
    const heap = Number(/=(\d+)$/.exec(environment.NODE_OPTIONS ?? '')?.[1]);
    expect(heap * 2 ** 20).toBeGreaterThan(10_000 * 46_000 + HEAP_AT_START);
    expect(container.resources.limits.memory).toBeGreaterThanOrEqual(heap + 512);
  });

  test('contain settings that Parley accepts', () => {
    expect(readConfig(environment).metrics?.port).toBe(9464);
  });
});
