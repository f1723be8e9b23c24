CREATE TABLE `orders` (
	`id` text PRIMARY KEY NOT NULL,
	`customer` text NOT NULL,
	`customer_folded` text NOT NULL,
	`total_e4` integer NOT NULL,
	`status` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`created_at_time_zone` text,
	`created_by` text,
	`updated_at` integer,
	`updated_at_time_zone` text,
	`modified_by` text,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `orders_created_at_idx` ON `orders` (`created_at`);--> statement-breakpoint
CREATE INDEX `orders_customer_folded_idx` ON `orders` (`customer_folded`);