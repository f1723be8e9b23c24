-- Run after each migration, which changes nothing from the second time on: docs/operations.md, "PostgreSQL".
revoke insert, update, delete on schema_migrations from countersign_app;
revoke update, delete on events, order_approvals from countersign_app;
grant update (text, text_salt) on events to countersign_app;
revoke delete on orders, principals, users, clients from countersign_app;
