#pragma once
// Configurations of families of models, cut to the fields that matter, with the numbers of parameters in the files of
// weights that are published with them, towers included.

#include <cstdint>
#include <string_view>

namespace contend {

struct PublishedConfig {
  const char* name;
  double parameters;
  std::string_view text;
};

/// Counted to the digit.
inline constexpr PublishedConfig kCountedConfigs[] = {
    {"gpt-oss-20b", 20'914'757'184,
     R"({"model_type": "gpt_oss", "architectures": ["GptOssForCausalLM"], "attention_bias": true, "head_dim": 64,
"hidden_size": 2880, "intermediate_size": 2880, "layer_types": ["sliding_attention", "full_attention",
"sliding_attention", "full_attention", "sliding_attention", "full_attention", "sliding_attention",
"full_attention", "sliding_attention", "full_attention", "sliding_attention", "full_attention",
"sliding_attention", "full_attention", "sliding_attention", "full_attention", "sliding_attention",
"full_attention", "sliding_attention", "full_attention", "sliding_attention", "full_attention",
"sliding_attention", "full_attention"], "num_attention_heads": 64, "num_experts_per_tok": 4,
"experts_per_token": 4, "num_hidden_layers": 24, "num_key_value_heads": 8, "num_local_experts": 32,
"sliding_window": 128, "vocab_size": 201088, "tie_word_embeddings": false, "swiglu_limit": 7.0,
"initial_context_length": 4096, "max_position_embeddings": 131072, "rms_norm_eps": 1e-05, "rope_theta":
150000, "rope_scaling": {"factor": 32.0}, "router_aux_loss_coef": 0.9, "hidden_act": "silu",
"output_router_logits": false, "use_cache": true, "quantization_config": {"quant_method": "mxfp4"}})"},
    {"gpt-oss-120b", 116'829'156'672,
     R"({"model_type": "gpt_oss", "attention_bias": true, "head_dim": 64, "hidden_size": 2880, "intermediate_size":
2880, "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention",
"sliding_attention", "full_attention", "sliding_attention", "full_attention", "sliding_attention",
"full_attention", "sliding_attention", "full_attention", "sliding_attention", "full_attention",
"sliding_attention", "full_attention", "sliding_attention", "full_attention", "sliding_attention",
"full_attention", "sliding_attention", "full_attention", "sliding_attention", "full_attention",
"sliding_attention", "full_attention", "sliding_attention", "full_attention", "sliding_attention",
"full_attention", "sliding_attention", "full_attention", "sliding_attention", "full_attention",
"sliding_attention", "full_attention"], "num_attention_heads": 64, "num_experts_per_tok": 4,
"num_hidden_layers": 36, "num_key_value_heads": 8, "num_local_experts": 128, "sliding_window": 128,
"vocab_size": 201088, "tie_word_embeddings": false})"},
    {"gemma2-9b", 9'241'705'984,
     R"({"model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"], "attention_bias": false,
"attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0, "head_dim": 256, "hidden_act":
"gelu_pytorch_tanh", "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 3584, "intermediate_size":
14336, "max_position_embeddings": 8192, "num_attention_heads": 16, "num_hidden_layers": 42,
"num_key_value_heads": 8, "query_pre_attn_scalar": 256, "rms_norm_eps": 1e-06, "sliding_window": 4096,
"sliding_window_size": 4096, "vocab_size": 256000, "cache_implementation": "hybrid"})"},
    {"gemma3-27b", 27'432'406'640,
     R"({"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"], "boi_token_index": 255999,
"eoi_token_index": 256000, "eos_token_id": [1, 106], "image_token_index": 262144, "mm_tokens_per_image":
256, "initializer_range": 0.02, "text_config": {"head_dim": 128, "hidden_size": 5376, "intermediate_size":
21504, "model_type": "gemma3_text", "num_attention_heads": 32, "num_hidden_layers": 62,
"num_key_value_heads": 16, "query_pre_attn_scalar": 168, "rope_scaling": {"factor": 8.0, "rope_type":
"linear"}, "sliding_window": 1024}, "vision_config": {"hidden_size": 1152, "image_size": 896,
"intermediate_size": 4304, "model_type": "siglip_vision_model", "num_attention_heads": 16,
"num_hidden_layers": 27, "patch_size": 14, "vision_use_head": false}})"},
    {"gemma3-1b", 999'885'952,
     R"({"model_type": "gemma3_text", "head_dim": 256, "hidden_size": 1152, "intermediate_size": 6912,
"num_attention_heads": 4, "num_hidden_layers": 26, "num_key_value_heads": 1, "sliding_window": 512,
"sliding_window_pattern": 6, "vocab_size": 262144})"},
    {"glm-4.5-air", 106'852'251'264,
     R"({"model_type": "glm4_moe", "attention_bias": true, "head_dim": 128, "hidden_size": 4096,
"intermediate_size": 10944, "moe_intermediate_size": 1408, "num_attention_heads": 96, "n_group": 1,
"topk_group": 1, "n_routed_experts": 128, "n_shared_experts": 1, "num_experts_per_tok": 8,
"first_k_dense_replace": 1, "num_hidden_layers": 46, "num_key_value_heads": 8, "num_nextn_predict_layers":
1, "use_qk_norm": false, "vocab_size": 151552, "tie_word_embeddings": false})"},
    {"phi-3-mini", 3'821'079'552,
     R"({"model_type": "phi3", "architectures": ["Phi3ForCausalLM"], "hidden_size": 3072, "intermediate_size": 8192,
"num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 32, "vocab_size": 32064,
"sliding_window": 2047, "tie_word_embeddings": false, "resid_pdrop": 0.0, "embd_pdrop": 0.0,
"original_max_position_embeddings": 4096, "max_position_embeddings": 4096, "rms_norm_eps": 1e-05,
"rope_scaling": null, "rope_theta": 10000.0, "attention_bias": false})"},
    {"phi-2", 2'779'683'840,
     R"({"model_type": "phi", "hidden_size": 2560, "intermediate_size": 10240, "num_attention_heads": 32,
"num_hidden_layers": 32, "num_key_value_heads": 32, "vocab_size": 51200, "tie_word_embeddings": false,
"partial_rotary_factor": 0.4, "qk_layernorm": false, "layer_norm_eps": 1e-05})"},
    {"phimoe", 41'873'153'344,
     R"({"model_type": "phimoe", "attention_bias": true, "lm_head_bias": true, "hidden_size": 4096,
"intermediate_size": 6400, "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
"num_local_experts": 16, "num_experts_per_tok": 2, "vocab_size": 32064, "sliding_window": 131072,
"tie_word_embeddings": false, "input_jitter_noise": 0.01})"},
    {"olmo2-7b", 7'298'617'344,
     R"({"model_type": "olmo2", "hidden_size": 4096, "intermediate_size": 11008, "num_attention_heads": 32,
"num_hidden_layers": 32, "num_key_value_heads": 32, "vocab_size": 100352, "tie_word_embeddings": false})"},
    {"olmoe-1b-7b", 6'919'161'856,
     R"({"model_type": "olmoe", "hidden_size": 2048, "intermediate_size": 1024, "num_attention_heads": 16,
"num_experts": 64, "num_experts_per_tok": 8, "num_hidden_layers": 16, "num_key_value_heads": 16,
"vocab_size": 50304, "tie_word_embeddings": false, "norm_topk_prob": false, "clip_qkv": null,
"router_aux_loss_coef": 0.01})"},
    {"falcon-7b", 6'921'720'704,
     R"({"model_type": "falcon", "hidden_size": 4544, "n_layer": 32, "n_head": 71, "multi_query": true,
"parallel_attn": true, "new_decoder_architecture": false, "bias": false, "alibi": false, "vocab_size":
65024, "num_kv_heads": 71, "hidden_dropout": 0.0, "apply_residual_connection_post_layernorm": false,
"num_attention_heads": 71, "num_hidden_layers": 32})"},
    {"falcon-40b", 41'303'293'952,
     R"({"model_type": "falcon", "hidden_size": 8192, "num_hidden_layers": 60, "num_attention_heads": 128,
"num_kv_heads": 8, "new_decoder_architecture": true, "parallel_attn": true, "multi_query": true, "bias":
false, "alibi": false, "vocab_size": 65024})"},
    {"stablelm-3b", 2'795'443'200,
     R"({"model_type": "stablelm", "hidden_size": 2560, "intermediate_size": 6912, "num_attention_heads": 32,
"num_hidden_layers": 32, "num_key_value_heads": 32, "vocab_size": 50304, "tie_word_embeddings": false,
"use_qkv_bias": false, "qk_layernorm": false, "use_parallel_residual": false})"},
    {"command-r-35b", 34'980'831'232,
     R"({"model_type": "cohere", "hidden_size": 8192, "intermediate_size": 22528, "num_attention_heads": 64,
"num_hidden_layers": 40, "num_key_value_heads": 64, "vocab_size": 256000, "use_qk_norm": false,
"logit_scale": 0.0625, "layer_norm_eps": 1e-05})"},
    {"qwen1.5-moe-a2.7b", 14'315'784'192,
     R"({"model_type": "qwen2_moe", "hidden_size": 2048, "intermediate_size": 5632, "moe_intermediate_size": 1408,
"shared_expert_intermediate_size": 5632, "num_attention_heads": 16, "num_hidden_layers": 24,
"num_key_value_heads": 16, "num_experts": 60, "num_experts_per_tok": 4, "vocab_size": 151936,
"tie_word_embeddings": false})"},
    {"qwen2.5-vl-7b", 8'292'166'656,
     R"({"model_type": "qwen2_5_vl", "architectures": ["Qwen2_5_VLForConditionalGeneration"], "hidden_size": 3584,
"intermediate_size": 18944, "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4,
"vocab_size": 152064, "tie_word_embeddings": false, "use_sliding_window": false, "sliding_window": 32768,
"max_window_layers": 28, "vision_config": {"depth": 32, "hidden_act": "silu", "hidden_size": 1280,
"intermediate_size": 3420, "num_heads": 16, "in_chans": 3, "out_hidden_size": 3584, "patch_size": 14,
"spatial_merge_size": 2, "spatial_patch_size": 14, "window_size": 112, "fullatt_block_indexes": [7, 15, 23,
31], "tokens_per_second": 2, "temporal_patch_size": 2}})"},
    {"qwen3-next-80b", 79'674'391'296,
     R"({"model_type": "qwen3_next", "architectures": ["Qwen3NextForCausalLM"], "attention_bias": false,
"decoder_sparse_step": 1, "full_attention_interval": 4, "head_dim": 256, "hidden_size": 2048,
"intermediate_size": 5120, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads":
16, "linear_num_value_heads": 32, "linear_value_head_dim": 128, "mlp_only_layers": [],
"moe_intermediate_size": 512, "norm_topk_prob": true, "num_attention_heads": 16, "num_experts": 512,
"num_experts_per_tok": 10, "num_hidden_layers": 48, "num_key_value_heads": 2, "partial_rotary_factor": 0.25,
"shared_expert_intermediate_size": 512, "vocab_size": 151936, "tie_word_embeddings": false})"},
    {"kimi-linear-48b", 49'122'681'728,
     R"({"model_type": "kimi_linear", "hidden_size": 2304, "intermediate_size": 9216, "kv_lora_rank": 512,
"q_lora_rank": null, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "mla_use_nope":
true, "moe_intermediate_size": 1024, "moe_renormalize": true, "moe_router_activation_func": "sigmoid",
"num_attention_heads": 32, "num_key_value_heads": 32, "num_experts": 256, "num_experts_per_token": 8,
"num_shared_experts": 1, "first_k_dense_replace": 1, "moe_layer_freq": 1, "num_hidden_layers": 27,
"num_expert_group": 1, "topk_group": 1, "use_grouped_topk": true, "vocab_size": 163840,
"tie_word_embeddings": false, "head_dim": 72, "linear_attn_config": {"full_attn_layers": [4, 8, 12, 16, 20,
24, 27], "head_dim": 128, "kda_layers": [1, 2, 3], "num_heads": 32, "short_conv_kernel_size": 4},
"num_nextn_predict_layers": 0})"},
    {"ernie-4.5-21b-a3b", 21'825'437'888,
     R"({"model_type": "ernie4_5_moe", "hidden_size": 2560, "intermediate_size": 12288, "moe_intermediate_size":
1536, "num_attention_heads": 20, "num_key_value_heads": 4, "num_hidden_layers": 28, "moe_num_experts": 64,
"moe_k": 6, "moe_num_shared_experts": 2, "moe_layer_start_index": 1, "moe_layer_end_index": 27,
"moe_layer_interval": 1, "vocab_size": 103424, "use_bias": false, "tie_word_embeddings": true,
"moe_capacity": [64, 64, 64], "moe_gate": "topk", "moe_use_aux_free": true})"},
    {"seed-oss-36b", 36'151'104'512,
     R"({"model_type": "seed_oss", "attention_bias": true, "attention_out_bias": false, "mlp_bias": false,
"head_dim": 128, "hidden_size": 5120, "intermediate_size": 27648, "num_attention_heads": 80,
"num_hidden_layers": 64, "num_key_value_heads": 8, "vocab_size": 155136, "tie_word_embeddings": false})"},
    {"jamba-v0.1", 51'570'323'328,
     R"({"model_type": "jamba", "attn_layer_offset": 4, "attn_layer_period": 8, "expert_layer_offset": 1,
"expert_layer_period": 2, "hidden_size": 4096, "intermediate_size": 14336, "mamba_conv_bias": true,
"mamba_d_conv": 4, "mamba_d_state": 16, "mamba_dt_rank": 256, "mamba_expand": 2, "mamba_inner_layernorms":
true, "mamba_proj_bias": false, "num_attention_heads": 32, "num_experts": 16, "num_experts_per_tok": 2,
"num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 65536, "tie_word_embeddings": false,
"calc_logits_for_entire_prompt": false})"},
    {"mamba2-2.7b", 2'702'599'680,
     R"({"model_type": "mamba2", "hidden_size": 2560, "num_hidden_layers": 64, "num_heads": 80, "head_dim": 64,
"n_groups": 1, "state_size": 128, "conv_kernel": 4, "expand": 2, "vocab_size": 50288, "tie_word_embeddings":
true, "use_bias": false, "use_conv_bias": true, "chunk_size": 256, "rms_norm": true})"},
    {"mamba-2.8b", 2'768'345'600,
     R"({"model_type": "mamba", "hidden_size": 2560, "num_hidden_layers": 64, "state_size": 16, "conv_kernel": 4,
"expand": 2, "time_step_rank": 160, "vocab_size": 50280, "intermediate_size": 5120, "use_bias": false,
"use_conv_bias": true, "tie_word_embeddings": true})"},
    {"nemotron-nano-9b-v2", 8'888'227'328,
     R"({"model_type": "nemotron_h", "hybrid_override_pattern":
"M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-", "hidden_size": 4480, "intermediate_size": 15680,
"num_hidden_layers": 56, "num_attention_heads": 40, "head_dim": 128, "num_key_value_heads": 8,
"mamba_num_heads": 128, "mamba_head_dim": 80, "ssm_state_size": 128, "n_groups": 8, "conv_kernel": 4,
"use_conv_bias": true, "expand": 2, "vocab_size": 131072, "tie_word_embeddings": false, "mlp_hidden_act":
"relu2", "chunk_size": 128})"},
    {"starcoder2-7b", 7'173'923'840,
     R"({"model_type": "starcoder2", "hidden_size": 4608, "intermediate_size": 18432, "num_attention_heads": 36,
"num_key_value_heads": 4, "num_hidden_layers": 32, "vocab_size": 49152, "use_bias": true, "sliding_window":
4096, "max_position_embeddings": 16384, "tie_word_embeddings": true, "norm_epsilon": 1e-05, "mlp_type":
"default", "norm_type": "layer_norm"})"},
    {"mpt-7b", 6'649'286'656,
     R"({"model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32, "expansion_ratio": 4, "max_seq_len":
2048, "vocab_size": 50432, "no_bias": true, "attn_config": {"alibi": true, "attn_impl": "torch", "qk_ln":
false, "clip_qkv": null}, "learned_pos_emb": true, "norm_type": "low_precision_layernorm", "logit_scale":
null})"},
    {"dbrx", 131'596'523'520,
     R"({"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40, "max_seq_len": 32768, "vocab_size":
100352, "tie_word_embeddings": false, "attn_config": {"clip_qkv": 8, "kv_n_heads": 8, "model_type": "",
"rope_theta": 500000}, "ffn_config": {"ffn_hidden_size": 10752, "moe_jitter_eps": 0.01, "moe_loss_weight":
0.05, "moe_num_experts": 16, "moe_top_k": 4, "model_type": ""}})"},
    {"pythia-6.9b", 6'857'302'016,
     R"({"model_type": "gpt_neox", "hidden_size": 4096, "intermediate_size": 16384, "num_attention_heads": 32,
"num_hidden_layers": 32, "vocab_size": 50432, "use_parallel_residual": true, "rotary_pct": 0.25,
"tie_word_embeddings": false})"},
    {"t5-large", 737'668'096,
     R"({"model_type": "t5", "d_model": 1024, "d_ff": 4096, "d_kv": 64, "num_heads": 16, "num_layers": 24,
"num_decoder_layers": 24, "vocab_size": 32128, "relative_attention_num_buckets": 32, "is_encoder_decoder":
true})"},
    {"bert-large", 335'141'888,
     R"({"model_type": "bert", "hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16,
"num_hidden_layers": 24, "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2,
"layer_norm_eps": 1e-12, "hidden_act": "gelu"})"},
};

/// Rounded, as model cards say them.
inline constexpr PublishedConfig kRoundedConfigs[] = {
    {"granite-4-h-small", 32.2e9,
     R"({"model_type": "granitemoehybrid", "hidden_size": 4096, "intermediate_size": 768,
"shared_intermediate_size": 1536, "layer_types": ["mamba", "mamba", "mamba", "mamba", "mamba", "attention",
"mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "attention", "mamba",
"mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "attention", "mamba", "mamba",
"mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "attention", "mamba", "mamba", "mamba",
"mamba"], "mamba_n_heads": 128, "mamba_d_head": 64, "mamba_n_groups": 1, "mamba_d_state": 128,
"mamba_d_conv": 4, "mamba_expand": 2, "mamba_chunk_size": 256, "mamba_conv_bias": true, "mamba_proj_bias":
false, "num_attention_heads": 32, "num_key_value_heads": 8, "num_local_experts": 72, "num_experts_per_tok":
10, "num_hidden_layers": 40, "vocab_size": 100352, "tie_word_embeddings": true, "position_embedding_type":
"nope", "attention_multiplier": 0.0078})"},
    {"hunyuan-a13b", 80.4e9,
     R"({"model_type": "hunyuan_v1_moe", "hidden_size": 4096, "intermediate_size": 3072, "moe_intermediate_size":
[3072, 3072, 3072, 3072, 3072, 3072, 3072, 3072, 3072, 3072, 3072, 3072, 3072, 3072, 3072, 3072, 3072, 3072,
3072, 3072, 3072, 3072, 3072, 3072, 3072, 3072, 3072, 3072, 3072, 3072, 3072, 3072], "num_attention_heads":
32, "num_key_value_heads": 8, "head_dim": 128, "attention_head_dim": 128, "num_hidden_layers": 32,
"num_experts": 64, "moe_topk": [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8,
8, 8, 8, 8, 8, 8, 8], "num_shared_expert": [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], "use_mixed_mlp_moe": true, "use_qk_norm": true, "vocab_size": 128167,
"tie_word_embeddings": true, "use_cla": false, "cla_share_factor": 2})"},
    {"llama-4-maverick", 400.7e9,
     R"({"model_type": "llama4_text", "attention_chunk_size": 8192, "head_dim": 128, "hidden_size": 5120,
"interleave_moe_layer_step": 2, "intermediate_size": 8192, "intermediate_size_mlp": 16384,
"num_attention_heads": 40, "num_experts_per_tok": 1, "num_hidden_layers": 48, "num_key_value_heads": 8,
"num_local_experts": 128, "vocab_size": 202048, "use_qk_norm": false})"},
    {"minimax-text-01", 456e9,
     R"({"model_type": "minimax_text_01", "attn_type_list": [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0,
0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1], "hidden_size": 6144,
"intermediate_size": 9216, "num_attention_heads": 64, "head_dim": 128, "num_key_value_heads": 8,
"num_hidden_layers": 80, "num_local_experts": 32, "num_experts_per_tok": 2, "vocab_size": 200064,
"shared_intermediate_size": 0, "tie_word_embeddings": false, "shared_moe_mode": "sigmoid", "postnorm": true,
"layernorm_full_attention_alpha": 3.5, "layernorm_full_attention_beta": 1.0, "rotary_dim": 64})"},
    {"mimo-v2-flash", 309e9,
     R"({"model_type": "mimo_v2_flash", "hidden_size": 4096, "intermediate_size": 16384, "num_attention_heads": 64,
"num_key_value_heads": 4, "head_dim": 192, "v_head_dim": 128, "num_hidden_layers": 48,
"hybrid_layer_pattern": [0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1,
1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0], "swa_num_attention_heads": 64,
"swa_num_key_value_heads": 8, "swa_head_dim": 192, "swa_v_head_dim": 128, "sliding_window": 128,
"n_routed_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 2048, "moe_layer_freq": [0, 1,
1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
1, 1, 1, 1, 1, 1, 1, 1, 1, 1], "vocab_size": 152576, "tie_word_embeddings": false,
"add_swa_attention_sink_bias": true, "add_full_attention_sink_bias": false, "attention_bias": false,
"topk_method": "noaux_tc", "n_group": 1, "topk_group": 1, "n_shared_experts": null})"},
    {"glm-5", 744e9,
     R"({"model_type": "glm_moe_dsa", "head_dim": 64, "hidden_size": 6144, "index_head_dim": 128, "index_n_heads":
32, "index_topk": 2048, "indexer_rope_interleave": true, "intermediate_size": 12288, "kv_lora_rank": 512,
"moe_intermediate_size": 2048, "moe_layer_freq": 1, "n_group": 1, "topk_group": 1, "n_routed_experts": 256,
"n_shared_experts": 1, "num_attention_heads": 64, "num_experts_per_tok": 8, "num_hidden_layers": 78,
"num_key_value_heads": 64, "num_nextn_predict_layers": 1, "q_lora_rank": 2048, "qk_head_dim": 256,
"qk_nope_head_dim": 192, "qk_rope_head_dim": 64, "v_head_dim": 256, "vocab_size": 154880,
"first_k_dense_replace": 3, "tie_word_embeddings": false, "topk_method": "noaux_tc"})"},
    {"minitron-nemotron-4-15b", 15.6e9,
     R"({"model_type": "nemotron", "hidden_size": 6144, "intermediate_size": 24576, "num_attention_heads": 48,
"num_key_value_heads": 8, "num_hidden_layers": 32, "vocab_size": 256000, "tie_word_embeddings": false,
"hidden_act": "relu2", "norm_eps": 1e-05, "attention_bias": false, "mlp_bias": false, "head_dim": 128})"},
};

}  // namespace contend
