<?php
namespace Shop;
use Base;
/** Where to go. */
const ROUTES = [
  'home',
];
$sizes = ['a' => 1, 'b' => 2];
define('A', 1);
define('B', 2);
add_action('init', 'run');
trait Named {}
enum Colour { case Red; }
class Orders { const NAMES = [
  'a', ]; }
return ['x' => 1,
];
