# Debian's PostgreSQL in the place of postgres:VERSION: the same user, folder and variables.
ARG BASE
FROM ${BASE}
RUN groupadd --system --gid 999 postgres && useradd --system --uid 999 --gid 999 postgres \
    && apt-get update && apt-get install -y --no-install-recommends postgresql && rm -rf /var/lib/apt/lists/* \
    && ln -s /usr/lib/postgresql/*/bin/* /usr/local/bin/ \
    && install -d -o 999 -g 999 -m 700 /var/lib/postgresql/data
COPY postgres.sh /usr/local/bin/
STOPSIGNAL SIGINT
ENTRYPOINT ["sh", "/usr/local/bin/postgres.sh"]
