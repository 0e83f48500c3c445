# The service alone, for a PostgreSQL of its own (DATABASE_URL). Nothing is built: Node runs the TypeScript as it is.
FROM node:26.10.0-bookworm-slim AS base
ENV NODE_ENV=production
WORKDIR /app

# Production packages without the optional ones: those are the binaries of the embedded PostgreSQL.
FROM base AS packages
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM base
COPY --from=packages /app/node_modules node_modules
COPY package.json LICENSE ./
COPY bridges bridges
COPY entities entities
COPY platform platform
COPY routers routers
COPY server server
# Compiled once here, so that starts and commands are short; by the user who runs it, since Node keeps what it compiled for each
# user apart. In the end that one can write nothing.
RUN mkdir -p node_modules/.cache && chown node node_modules/.cache
USER node
RUN NODE_COMPILE_CACHE=node_modules/.cache/albaran node -e "const { globSync } = require('fs'); Promise.all(['server/process.ts', ...globSync('{bridges,entities,platform,routers,server}/**/*.ts')].map((file) => import('./' + file)))" && chmod -R a-w node_modules/.cache

ENV HOST=0.0.0.0 PORT=3000
# What a process keeps in memory stays near 200 MB; a company with very long answers may ask for more.
ENV NODE_OPTIONS="--max-old-space-size=384 --max-semi-space-size=8"
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# SIGTERM drains calls under way for SHUTDOWN_TIMEOUT_MS (10 s): give the container a little longer.
ENTRYPOINT ["node", "server/main.js"]
CMD ["serve"]
