"""The layer list that bench_inference writes (network.json, weights.f32) as an ONNX model."""
import json

import numpy as np
from onnx import TensorProto, helper, numpy_helper


class _Graph:
    """Nodes in the order of the layers; `names[i]` is the tensor of layer i (-1: the image)."""

    def __init__(self, network, weights, batch):
        self.nodes, self.constants, self.weights, self.batch = [], [], weights, batch
        self.names, self.shapes = {-1: "input"}, {-1: network["input"]}
        for index, layer in enumerate(network["layers"]):
            inputs = [self.names[i] for i in layer["inputs"]]
            self.shapes[index] = layer["output"]
            add = getattr(self, layer["op"])
            self.names[index] = add(f"t{index}", layer, inputs, self.shapes[layer["inputs"][0]])
        assert self.weights.size == 0

    def node(self, op, inputs, name, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def constant(self, name, values):
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def take(self, *shape):
        count = int(np.prod(shape))
        taken, self.weights = self.weights[:count].reshape(shape), self.weights[count:]
        return taken

    def reshape(self, source, name, channels, height, width):
        shape = self.constant(name + "_shape", np.array([self.batch, channels, height, width], np.int64))
        return self.node("Reshape", [source, shape], name)

    def activation(self, source, name, slope):
        if slope == 1:
            return source
        return self.node("Relu", [source], name) if slope == 0 else self.node("LeakyRelu", [source], name, alpha=slope)

    def convolution(self, name, layer, inputs, shape):
        filters, kernel, (y, x) = layer["filters"], layer["kernel"], layer["pad"]
        weights, bias = self.take(filters, shape[0], *kernel), self.take(filters)
        if kernel == shape[1:] and (y, x) == (0, 0):  # fully connected: a matrix product
            flat = self.node("Flatten", inputs, name + "_flat")
            operands = [self.constant(name + "_w", weights.reshape(filters, -1)), self.constant(name + "_b", bias)]
            flat = self.node("Gemm", [flat, *operands], name + "_gemm", transB=1)
            return self.reshape(self.activation(flat, name + "_active", layer["slope"]), name, filters, 1, 1)
        operands = [self.constant(name + "_w", weights), self.constant(name + "_b", bias)]
        out = self.node("Conv", inputs + operands, name + "_conv", kernel_shape=kernel, pads=[y, x, y, x],
                        strides=[layer["stride"]] * 2)
        return self.activation(out, name, layer["slope"])

    def max_pool(self, name, layer, inputs, _):
        return self.node("MaxPool", inputs, name, kernel_shape=[layer["kernel"]] * 2, strides=[layer["stride"]] * 2,
                         pads=[layer["pad_before"]] * 2 + [layer["pad_after"]] * 2)

    def average_pool(self, name, layer, inputs, shape):
        if layer["kernel"] == shape[1:]:
            return self.node("GlobalAveragePool", inputs, name)
        return self.node("AveragePool", inputs, name, kernel_shape=layer["kernel"], strides=[layer["stride"]] * 2,
                         pads=[layer["pad"]] * 4, count_include_pad=1)

    def local_response_norm(self, name, layer, inputs, _):
        return self.node("LRN", inputs, name, **{key: layer[key] for key in ("size", "alpha", "beta", "bias")})

    def sum(self, name, layer, inputs, _):
        return self.activation(self.node("Add", inputs, name + "_sum"), name, layer["slope"])

    def upsample(self, name, layer, inputs, _):
        scales = self.constant(name + "_scales", np.array([1, 1, layer["factor"], layer["factor"]], np.float32))
        return self.node("Resize", [*inputs, "", scales], name, mode="nearest",
                         coordinate_transformation_mode="asymmetric", nearest_mode="floor")

    def channel_arg_max(self, name, _layer, inputs, _shape):
        return self.node("Cast", [self.node("ArgMax", inputs, name + "_index", axis=1)], name, to=TensorProto.FLOAT)

    def reorg(self, name, layer, inputs, shape):
        """Darknet's: space to depth of the same memory seen as stride x stride times larger planes."""
        s, (channels, height, width) = layer["stride"], shape
        view = self.reshape(inputs[0], name + "_view", channels // s**2, height * s, width * s)
        moved = self.node("SpaceToDepth", [view], name + "_moved", blocksize=s)
        return self.reshape(moved, name, channels * s * s, height // s, width // s)

    def route(self, name, _layer, inputs, _shape):
        return inputs[0] if len(inputs) == 1 else self.node("Concat", inputs, name, axis=1)


def onnx_model(folder, batch):
    """The serialised model and its input's shape; the output is channels x height x width, as ONNX has it."""
    with open(f"{folder}/network.json", encoding="utf-8") as file:
        network = json.load(file)
    graph = _Graph(network, np.fromfile(f"{folder}/weights.f32", np.float32), batch)
    last = len(network["layers"]) - 1
    value = helper.make_tensor_value_info
    model = helper.make_model(
        helper.make_graph(graph.nodes, network["name"],
                          [value("input", TensorProto.FLOAT, [batch, *network["input"]])],
                          [value(graph.names[last], TensorProto.FLOAT, [batch, *graph.shapes[last]])],
                          graph.constants),
        opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    return model.SerializeToString(), [batch, *network["input"]]
