import type { TestedServer } from './tested-server.ts';

/** Why no connection to a model server is possible, and what to do. */
export type ConnectionProblem = { message: string; advice: string };

type About = Pick<TestedServer, 'name' | 'baseUrl' | 'owner'>;

/** A code of Node.js, OpenSSL or undici. Other texts may quote addresses. */
const CODE = /^[A-Z][A-Z0-9_]{2,60}$/;

/** Errors of certificates: Node.js, "X509 certificate error codes", and its own check of the host name. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|CRL|_CA$/;

/**
 * Describes a failed connection. A name without an address is the guard's `unreachable` without a cause.
 *
 * @param cause the error of the connection, of the system or of the egress guard.
 */
export function connectionProblem(cause: unknown, about: About): ConnectionProblem {
  const { name, baseUrl } = about;
  const codes = codesOf(cause);
  if (codes.includes('blocked')) {
    return {
      message: `${name} has a private address, which definitions may not use.`,
      advice: `Use a public address in ${baseUrl}, or have the operator of Parley add its host:port to PARLEY_ALLOWED_HOSTS.`,
    };
  }
  const code = codes.find((one) => CODE.test(one));
  const suffix = code ? ` (${code})` : '';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || (!code && codes.includes('unreachable'))) {
    return {
      message: `The host name in ${baseUrl} has no address${suffix}.`,
      advice: `Check the spelling of the host in ${baseUrl}, and the DNS of the machine that runs Parley.`,
    };
  }
  if (code === 'ECONNREFUSED') {
    return {
      message: `${name} refuses the connection${suffix}: no program listens there.`,
      advice: `Start the model server, and check the host and the port in ${baseUrl}. In a container, localhost is the container itself.`,
    };
  }
  if (code && CERTIFICATE.test(code)) return certificateProblem(code, about);
  if (code && /SSL|TLS|EPROTO/.test(code)) {
    return {
      message: `${name} does not speak TLS at this port${suffix}.`,
      advice: `Use http: in place of https: in ${baseUrl}, or the port of the server that speaks TLS.`,
    };
  }
  if (code?.startsWith('HPE_') || codes.includes('broken-answer')) {
    return {
      message: `${name} does not answer with HTTP${suffix}.`,
      advice: `Check the port in ${baseUrl}, and use https: in place of http: if the port speaks TLS.`,
    };
  }
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') {
    return {
      message: `There is no route to the host in ${baseUrl}${suffix}.`,
      advice: 'Check the network, the VPN and the firewall of the machine that runs Parley.',
    };
  }
  return {
    message: `${name} closed the connection before it answered${suffix}.`,
    advice: `See the log of the model server, and check the host and the port in ${baseUrl}.`,
  };
}

function certificateProblem(code: string, { name, baseUrl, owner }: About): ConnectionProblem {
  const message = `The certificate of ${name.charAt(0).toLowerCase()}${name.slice(1)} is not valid (${code}).`;
  if (code === 'CERT_HAS_EXPIRED') {
    return { message, advice: 'Renew the certificate of the server, and check the clock.' };
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return { message, advice: `Use the host name of the certificate in ${baseUrl}.` };
  }
  return { message, advice: AUTHORITY_ADVICE[owner] };
}

const AUTHORITY_ADVICE: Record<TestedServer['owner'], string> = {
  operator:
    'If your own authority issued it, set NODE_EXTRA_CA_CERTS to the file of its certificate in the environment of Parley (not in .env), and restart.',
  definition:
    'Use a certificate of a public authority, or have the operator of Parley trust yours with NODE_EXTRA_CA_CERTS.',
};

/** The codes of an error and its causes, from the inside. */
function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; depth += 1) {
    if ('code' in cause && typeof cause.code === 'string') codes.unshift(cause.code);
    cause = cause instanceof AggregateError ? (cause.errors[0] ?? cause.cause) : cause.cause;
  }
  return codes;
}
