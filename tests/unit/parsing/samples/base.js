/** Make a shape. */
function Shape(n) {
  this.onChange = function (event) {};
}

// The area.
Shape.prototype.area = function () { return 1; };

const scale = async (shape, factor) => {
  function inner() {}
  return shape;
};

const handlers = {
  'on-click': function (e) {},
  load: () => 1,
  run() {},
};

class Circle extends Shape {
  static #count = 0;

  /** The radius. */
  get radius() { return 1; }
  onDrag = (e) => {};
}

app.get("/", (request, response) => {
  response.send(1);
});
items.map((item) => item.id);
exports.main = main;
