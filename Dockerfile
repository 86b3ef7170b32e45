# The service and the offline commands in one image: docker build -t labelserve:0.1.0 .
# With extras: docker build --build-arg EXTRAS=neural,parquet -t labelserve:0.1.0 .
ARG PYTHON=3.11

FROM python:${PYTHON}-slim AS build
ARG EXTRAS=""
# LIBLINEAR is compiled when it is installed.
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
ENV PATH=/venv/bin:$PATH NUMBA_CACHE_DIR=/app/kernel-cache
WORKDIR /app
RUN python -m venv /venv
# First the packages, which change rarely, then the code.
COPY pyproject.toml constraints.txt README.md ./
COPY app/__init__.py app/
COPY labelserve/__init__.py labelserve/
RUN pip install --no-cache-dir --constraint constraints.txt --editable ".${EXTRAS:+[$EXTRAS]}"
COPY app app
COPY labelserve labelserve
COPY scripts scripts
# The kernels' machine code is part of the image: a read-only container cannot write it later.
RUN python -m app.compiling
RUN python -m compileall -q app labelserve scripts

FROM python:${PYTHON}-slim
# What a volume here is to belong to.
RUN install -d -o 10001 -g 10001 /keys /models /tmp/labelserve
COPY --from=build /venv /venv
COPY --from=build /app /app
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
