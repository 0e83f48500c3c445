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
COPY account-file account-file
COPY bridges bridges
COPY documents documents
COPY entities entities
COPY figures figures
COPY lifecycle lifecycle
COPY platform platform
COPY routers routers
COPY server server
# Compiled once here, so that starts and commands are short; by the user who runs it, since Node keeps what it compiled for each
# user apart. In the end that one can write to nothing but /backups, whose owner a new volume takes over.
RUN mkdir -p node_modules/.cache /backups && chown node node_modules/.cache /backups
USER node
RUN NODE_COMPILE_CACHE=node_modules/.cache/albaran node -e "const { accessSync, globSync } = require('fs'); accessSync('entities/migrations'); Promise.all(['server/process.ts', ...globSync('{account-file,bridges,documents,figures,lifecycle,platform,routers,server}/**/*.ts')].map((file) => import('./' + file)))" && chmod -R a-w node_modules/.cache

ENV HOST=0.0.0.0 PORT=3000
# What a process keeps in memory stays near 230 MB; a company with very long answers may ask for more.
ENV NODE_OPTIONS="--max-old-space-size=384 --max-semi-space-size=8"
# glibc gives memory back that the compiler of Node needed for a moment.
ENV MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=65536
EXPOSE 3000
# Readiness answers within 2 s, the check gives up after 4. A start that waits for migrations, its own or another process', is not
# unhealthy but starting. A process that stops is gone before it would count as unhealthy.
HEALTHCHECK --interval=10s --timeout=10s --start-period=1h --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`, { signal: AbortSignal.timeout(4000) }).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# SIGTERM drains calls under way for SHUTDOWN_TIMEOUT_MS (10 s): give the container a little longer.
ENTRYPOINT ["node", "server/main.js"]
CMD ["serve"]
