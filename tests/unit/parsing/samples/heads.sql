CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS by_name ON users (name)
  id int

CREATE EXTERNAL TABLE events (
  id int

CREATE PROCEDURE dbo.[Close Month] @m int
  id int

CREATE TABLE `shop`.`items` (
  id int

CREATE FUNCTION "Sales"."Total"(a INT) RETURNS INT AS $$
  id int

CREATE OR ALTER PROC sales.OpenMonth
  id int

CREATE TABLE IF NOT EXISTS [orders] (
  id int

create table public.users (
  id int

CREATE VIEW "my shop"."Daily Sales" AS SELECT 1
  id int

CREATE DEFINER=`root`@`%` PROCEDURE `close it`()
  id int

CREATE GLOBAL TEMPORARY TABLE basket (
  id int

CREATE OR REPLACE PACKAGE BODY orders AS
  id int

ALTER PROCEDURE dbo.[Old One] AS
  id int
