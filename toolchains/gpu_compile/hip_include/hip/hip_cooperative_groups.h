// Blocks, tiles and coalesced groups of cooperative groups. A grid's barrier needs AMD's device
// library; a use of it is reported by name.
#pragma once
#include "hip_runtime.h"

namespace cooperative_groups {

__AMDGPU_INLINE unsigned __flat_thread() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

class thread_block {
 public:
  __device__ static void sync() { __syncthreads(); }
  __device__ static unsigned thread_rank() { return __flat_thread(); }
  __device__ static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  __device__ static unsigned num_threads() { return size(); }
  __device__ static dim3 group_index() { return blockIdx; }
  __device__ static dim3 thread_index() { return threadIdx; }
  __device__ static dim3 group_dim() { return blockDim; }
  __device__ static dim3 dim_threads() { return blockDim; }
};
__AMDGPU_INLINE thread_block this_thread_block() { return {}; }

extern __device__ __attribute__((error("ocml: cooperative_groups::grid_group::sync()")))
void __grid_sync();

class grid_group {
 public:
  __device__ static void sync() { __grid_sync(); }
  __device__ static bool is_valid() { return true; }
  __device__ static unsigned block_rank() {
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  }
  __device__ static unsigned long long thread_rank() {
    return (unsigned long long)block_rank() * thread_block::size() + __flat_thread();
  }
  __device__ static unsigned num_blocks() { return gridDim.x * gridDim.y * gridDim.z; }
  __device__ static unsigned long long size() {
    return (unsigned long long)num_blocks() * thread_block::size();
  }
  __device__ static dim3 group_dim() { return gridDim; }
};
__AMDGPU_INLINE grid_group this_grid() { return {}; }

// What tiles and coalesced groups do by lanes of a wavefront.
template <unsigned width> class thread_block_tile {
  static_assert(width && width <= 64 && !(width & (width - 1)), "a tile is 1, 2, 4 … 64 threads");
  __device__ static unsigned long long lanes() {
    return width == 64 ? ~0ull : ((1ull << (width & 63)) - 1) << (__lane_id() & ~(width - 1));
  }

 public:
  __device__ static void sync() { __syncwarp(); }
  __device__ static constexpr unsigned size() { return width; }
  __device__ static constexpr unsigned num_threads() { return width; }
  __device__ static unsigned thread_rank() { return __flat_thread() & (width - 1); }
  __device__ static unsigned meta_group_rank() { return __flat_thread() / width; }
  __device__ static unsigned meta_group_size() {
    return (thread_block::size() + width - 1) / width;
  }
  template <typename T> __device__ static T shfl(T v, int lane) { return __shfl(v, lane, width); }
  template <typename T> __device__ static T shfl_up(T v, unsigned delta) {
    return __shfl_up(v, delta, width);
  }
  template <typename T> __device__ static T shfl_down(T v, unsigned delta) {
    return __shfl_down(v, delta, width);
  }
  template <typename T> __device__ static T shfl_xor(T v, int mask) {
    return __shfl_xor(v, mask, width);
  }
  __device__ static unsigned long long ballot(int predicate) {
    return (__ballot(predicate) & lanes()) >> (__lane_id() & ~(width - 1));
  }
  __device__ static int any(int predicate) { return ballot(predicate) != 0; }
  __device__ static int all(int predicate) { return ballot(!predicate) == 0; }
  template <typename T> __device__ static unsigned long long match_any(T v) {
    return (__match_any(v) & lanes()) >> (__lane_id() & ~(width - 1));
  }
};
template <unsigned width, typename Parent>
__AMDGPU_INLINE thread_block_tile<width> tiled_partition(const Parent&) {
  return {};
}

class coalesced_group {
  unsigned long long lanes;

 public:
  __device__ explicit coalesced_group(unsigned long long lanes) : lanes(lanes) {}
  __device__ void sync() const { __syncwarp(); }
  __device__ unsigned size() const { return __popcll(lanes); }
  __device__ unsigned num_threads() const { return size(); }
  __device__ unsigned thread_rank() const {
    return __popcll(lanes & ((1ull << __lane_id()) - 1));
  }
  template <typename T> __device__ T shfl(T v, unsigned rank) const {
    unsigned long long left = lanes;
    for (; rank; --rank) left &= left - 1;
    return __shfl(v, __builtin_ctzll(left));
  }
  __device__ int any(int predicate) const { return (__ballot(predicate) & lanes) != 0; }
  __device__ int all(int predicate) const { return (__ballot(!predicate) & lanes) == 0; }
};
__AMDGPU_INLINE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

__AMDGPU_INLINE void sync(const thread_block&) { __syncthreads(); }
__AMDGPU_INLINE void sync(const grid_group& g) { g.sync(); }
template <typename G> __AMDGPU_INLINE unsigned thread_rank(const G& g) { return g.thread_rank(); }
template <typename G> __AMDGPU_INLINE unsigned group_size(const G& g) { return g.size(); }

}  // namespace cooperative_groups
