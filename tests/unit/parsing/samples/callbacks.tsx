app.get('/users', (req, res) => {
  open();
  close();
});
it(`works`, async () => {
  open();
  close();
});
$('#form').submit(function () {
  open();
  close();
});
fetch(url).then((found) => {
  open();
  close();
});
new Promise((resolve) => {
  open();
  close();
});
new Emitter('a').on('x', () => {
  open();
  close();
});
define(['a'], function (a) {
  function open() {}

});
const Button = React.forwardRef((props, ref) => {
  open();
  close();
});
const load = flag && memo(async () => {
  open();
  close();
});
this.onClose = debounce(() => {
  open();
  close();
});
const handlers = { 'on-close': throttle(() => {
  open();
  close();
}) };
module.exports = wrap(function () {
  open();
  close();
});
class Panel { close = debounce(() => {
  open();
  close();
}); }
function debounce(call) { return function () {
  open();
  read();
  write();
  close();
}; }
function render() { items.map((item) => {
  open();
  close();
}); items.filter((item) => {
  open();
  read();
  write();
  close();
}); }
const page = () => <Button onClick={() => {
  open();
  read();
  write();
  close();
}} />;
