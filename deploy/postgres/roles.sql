-- Run once, when PostgreSQL makes the database: docs/operations.md, "PostgreSQL".
\set password `cat /run/secrets/app-password`
create role countersign_app login password :'password';
revoke connect, temporary on database countersign from public;
grant connect on database countersign to countersign_app;
alter default privileges for role countersign_owner in schema public
  grant select, insert, update, delete on tables to countersign_app;
