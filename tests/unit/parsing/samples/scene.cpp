PXR_USING_DIRECTIVE

class Scene {
    void draw() { }
};
DECLARE_PLUGIN(Scene, 2)
enum Mode { FAST };
