# Debian's HAProxy in the place of haproxy:VERSION: the same place for its configuration.
ARG BASE
FROM ${BASE}
RUN apt-get update && apt-get install -y --no-install-recommends haproxy && rm -rf /var/lib/apt/lists/*
STOPSIGNAL SIGUSR1
CMD ["haproxy", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]
