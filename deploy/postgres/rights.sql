-- Run after each migration, which changes nothing from the second time on: docs/operations.md, "PostgreSQL".
revoke insert, update, delete on schema_migrations from countersign_app;
revoke update, delete on events, log_tiles, order_approvals from countersign_app;
grant update (clear) on events to countersign_app;
revoke update on unsealed_events from countersign_app;
revoke insert, update, delete on log_head from countersign_app;
grant update (era, size, root, edge, contradicted_at) on log_head to countersign_app;
revoke delete on log_cosigned, log_witnesses from countersign_app;
revoke delete on orders, principals, users, clients from countersign_app;
