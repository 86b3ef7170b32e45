# The service and the offline commands in one image:
#   docker build --target service -t labelserve:0.1.0 .
#   docker build --target neural -t labelserve:0.1.0 .                    with networks (torch)
#   docker build --target service --build-arg EXTRAS=postgres,parquet -t labelserve:0.1.0 .
# BASE takes a digest, so that the same base is built on again: --build-arg BASE=python@sha256:…
ARG BASE=python:3.11-slim

FROM ${BASE} AS build
# LIBLINEAR is compiled when it is installed; the linker's tools take symbols out of libraries.
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
ENV PATH=/venv/bin:$PATH VIRTUAL_ENV=/venv NUMBA_CACHE_DIR=/app/kernel-cache
WORKDIR /app
# pip has an environment of its own, which stays behind.
RUN python -m venv /installer && python -m venv --without-pip /venv
# First the packages, which change rarely, then the code.
COPY pyproject.toml constraints.txt README.md ./
COPY app/__init__.py app/
COPY labelserve/__init__.py labelserve/
RUN /installer/bin/pip --python /venv/bin/python install --no-cache-dir --no-compile --constraint constraints.txt --editable .
COPY scripts/image scripts/image
RUN python scripts/image/slim.py "$VIRTUAL_ENV"
COPY app app
COPY labelserve labelserve
COPY scripts scripts
# A kernel's machine code names the time of its source, so all sources get the same one first.
ARG SOURCE_DATE_EPOCH=315532800
RUN find app labelserve scripts -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
# The kernels' machine code is part of the image: a read-only container cannot write it later.
RUN python -m app.compiling
RUN python -m compileall -q --invalidation-mode unchecked-hash app labelserve scripts
# Last what few need, so that everything before it is built once.
ARG EXTRAS=""
RUN if [ -n "$EXTRAS" ]; then /installer/bin/pip --python /venv/bin/python install --no-cache-dir --no-compile --constraint constraints.txt --editable ".[$EXTRAS]" && python scripts/image/slim.py "$VIRTUAL_ENV"; fi
RUN python scripts/image/sbom.py --output sbom.json
RUN find "$VIRTUAL_ENV" . -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

FROM ${BASE} AS runtime
ARG BASE
# A release adds its commit: --label org.opencontainers.image.revision=…
LABEL org.opencontainers.image.title="labelserve" \
    org.opencontainers.image.description="Multi-label text classification over HTTP" \
    org.opencontainers.image.version="0.1.0" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.base.name="${BASE}"
# What a volume here is to belong to.
RUN install -d -o 10001 -g 10001 /keys /models /tmp/labelserve
ENV PATH=/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    NUMBA_CACHE_DIR=/app/kernel-cache \
    LABELSERVE_HOST=0.0.0.0 \
    LABELSERVE_PORT=8000 \
    LABELSERVE_METRICS_PORT=9100 \
    LABELSERVE_MODELS_DIR=/models \
    LABELSERVE_API_KEYS_FILE=/keys/keys.json \
    LABELSERVE_DATA_DIR=/tmp/labelserve
WORKDIR /app
USER 10001:10001
EXPOSE 8000 9100
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen(f'http://127.0.0.1:{os.environ[\"LABELSERVE_PORT\"]}/health/ready', timeout=2)"]
# docker run IMAGE serves; docker run IMAGE models list, and so on, is any other command.
ENTRYPOINT ["labelserve"]
CMD ["serve"]

FROM runtime AS service
COPY --from=build /venv /venv
COPY --from=build /app /app

FROM build AS build-neural
RUN /installer/bin/pip --python /venv/bin/python install --no-cache-dir --no-compile --constraint constraints.txt --editable ".[neural]" && python scripts/image/slim.py "$VIRTUAL_ENV"
RUN python scripts/image/sbom.py --output sbom.json

FROM runtime AS neural
COPY --from=build-neural /venv /venv
COPY --from=build-neural /app /app

# Where no target is named.
FROM service
