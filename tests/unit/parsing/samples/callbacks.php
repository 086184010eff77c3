<?php
$app->get('/users', function () {
  open();
  close();
});
Route::get('/users', function () {
  open();
  close();
});
new Handler(function () {
  open();
  close();
});
$this->close = function () {
  open();
  close();
};
$handlers = ['open' => function () {
  open();
  close();
}];
$others = [function () {
  open();
  close();
}];
