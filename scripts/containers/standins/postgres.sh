#!/bin/sh
# What the published image does at its first start: a cluster, a user with a password, a database.
# Without a locale, as a cluster that somebody made by hand may be: its encoding is SQL_ASCII.
set -eu
data=/var/lib/postgresql/data
if [ ! -s "$data/PG_VERSION" ]; then
  : "${POSTGRES_PASSWORD:?must not be empty}"
  printf '%s' "$POSTGRES_PASSWORD" > /tmp/password
  LC_ALL=C initdb --pgdata="$data" --username="$POSTGRES_USER" --pwfile=/tmp/password --auth=scram-sha-256 --no-instructions
  rm /tmp/password
  echo "host all all all scram-sha-256" >> "$data/pg_hba.conf"
  echo "CREATE DATABASE $POSTGRES_USER" | postgres --single -D "$data" postgres
fi
exec postgres -D "$data" -c listen_addresses='*'
