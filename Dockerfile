# syntax=docker/dockerfile:1

# The packages and the generated files. The build needs development dependencies; the image does not get them.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc schema.graphql tsconfig.json vite.config.ts README.md CHANGELOG.md ./
COPY docs ./docs
COPY prisma ./prisma
COPY src ./src
# npm counts the optional peers of the client package as optional packages. No package of the server is optional.
RUN npm ci && npm prune --omit=dev --omit=optional && npm cache clean --force

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 PARLEY_DATA_DIR=/data
WORKDIR /app
# The files belong to root, so that the server cannot change its own code.
COPY --from=build /app ./
RUN install --directory --owner=node --group=node --mode=0700 /data
USER node
VOLUME /data
EXPOSE 4000
# Parley handles SIGTERM itself. With the default settings it exits within 40 seconds.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=32", "--heap-growing-percent=60", "src/start/main.mjs"]
