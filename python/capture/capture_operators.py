"""What operators of PyTorch compute and move: their flops, what kind of layer they are, and the sizes of products.

Only matrix products have flops, a multiply-add counts 2, as in the layer tables of the program (models/layers.hpp).
"""

import math

# Operators that launch nothing, although their schema doesn't say that their result is a view.
_VIEWS = {"aten::_unsafe_view", "aten::detach", "aten::detach_", "aten::lift_fresh", "aten::alias", "aten::_reshape_alias",
          "aten::set_", "aten::resize_", "aten::requires_grad_"}
_PRODUCTS = {"aten::mm": 0, "aten::bmm": 0, "aten::mv": 0, "aten::dot": 0, "aten::addmm": 1, "aten::baddbmm": 1,
             "aten::addmv": 1, "aten::addbmm": 1, "aten::linear": 0}
_CONVOLUTIONS = {"aten::convolution", "aten::_convolution", "aten::mkldnn_convolution", "aten::cudnn_convolution"}
_KINDS = (("normalization", ("batch_norm", "layer_norm", "group_norm", "rms_norm")),
          ("pooling", ("pool", "upsample")),
          ("embedding", ("embedding",)),
          ("activation", ("relu", "gelu", "silu", "elu", "sigmoid", "tanh", "softmax", "dropout", "bernoulli", "hardtanh",
                          "hardswish", "hardsigmoid", "mish", "nll_loss", "_loss")))


def short_name(name):
    """`addmm` of `aten::addmm`, without the underscores of variants."""
    return name.split("::")[-1].strip("_")


def is_view(name, schema):
    """True if the operator computes nothing: its result has the storage of an argument."""
    if name in _VIEWS:
        return True
    aliases = [each.alias_info for each in schema.returns]
    return bool(aliases) and all(each is not None and not each.is_write for each in aliases)


def is_product(name):
    return name in _PRODUCTS or name in _CONVOLUTIONS


def is_convolution(name):
    return name in _CONVOLUTIONS


def kind_of(name):
    """The kind of a layer that consists of this operator; `elementwise` for one that isn't known."""
    short = short_name(name)
    return next((kind for kind, words in _KINDS if any(word in short for word in words)), "elementwise")


def _convolution_flops(spatial, weight, transposed):
    """Each output (of a transposed one: each input) is a sum over the channels of a group and its window."""
    batch, positions = spatial[0], math.prod(spatial[2:])
    return 2 * batch * positions * math.prod(weight)


def _shapes(values):
    return [tuple(each.shape) for each in values]


def forward_flops(name, args, outputs):
    """Flops of an operator that isn't the gradient of a convolution; 0 for one that multiplies no matrices."""
    if name in _CONVOLUTIONS:
        transposed = bool(args[6]) if name in ("aten::convolution", "aten::_convolution") and len(args) > 6 else False
        return _convolution_flops(args[0].shape if transposed else outputs[0].shape, args[1].shape, transposed)
    if name not in _PRODUCTS:
        return 0
    left = args[_PRODUCTS[name]]
    inner = left.shape[-1]
    factor = left.shape[0] if name == "aten::addbmm" else 1
    return 2 * inner * factor * math.prod(outputs[0].shape)


def convolution_gradients(args):
    """Flops of aten::convolution_backward for the gradients of input and weight."""
    gradient, source, weight, transposed, mask = args[0], args[1], args[2], bool(args[7]), args[10]
    flops = _convolution_flops(source.shape if transposed else gradient.shape, weight.shape, transposed)
    return (flops if mask[0] else 0), (flops if mask[1] else 0)


def geometry(name, args, outputs, samples):
    """The sizes of a product for one sample, as a layer table has them; empty where they don't divide so."""
    if name in _CONVOLUTIONS:
        source, weight = args[0].shape, args[1].shape
        if name != "aten::convolution" or len(source) != 4 or args[6] or args[8] != 1 or any(d != 1 for d in args[5]):
            return ""
        stride, padding = list(args[3]), list(args[4])
        if source[0] != samples or len(set(stride)) != 1:
            return ""
        sizes = {"channels": source[1], "height": source[2], "width": source[3], "out_channels": weight[0],
                 "window_height": weight[2], "window_width": weight[3], "stride": stride[0], "pad_height": padding[0],
                 "pad_width": padding[-1]}
        return _text("convolution", sizes)
    if name not in _PRODUCTS or name in ("aten::mv", "aten::dot", "aten::addmv", "aten::addbmm"):
        return ""
    left = args[_PRODUCTS[name]].shape
    inner, columns = left[-1], outputs[0].shape[-1]
    if len(left) == 3 and name != "aten::linear":
        if left[0] % samples:
            return ""
        return _text("attention_scores",
                     {"heads": left[0] // samples, "queries": left[1], "keys": columns, "head_size": inner})
    rows = math.prod(left[:-1])
    if rows % samples:
        return ""
    return _text("linear", {"channels": inner, "height": rows // samples, "out_channels": columns})


def attention_geometry(queries, keys, samples, causal):
    """The sizes of attention in one kernel over [batch, heads, positions, size of a head]."""
    if queries.dim() != 4 or queries.shape[0] != samples:
        return ""
    return _text("fused_attention", {"heads": queries.shape[1], "queries": queries.shape[2], "keys": keys.shape[2],
                                     "head_size": queries.shape[3], "key_heads": keys.shape[1], "causal": int(causal)})


def _text(operation, sizes):
    return " ".join([operation] + [f"{key}={value}" for key, value in sizes.items()])
