//go:build goexperiment.simd

#include "textflag.h"

// The pixels of a row, four and then one at a time. DI and SI are where the next ones are
// written and read, R13 and R15 where their row begins, CX how many are left of it.

// func weigh32AVX512(dst *float32, step, row int, src *float32, move, fall int, taps *int, n int, weights *float32, rows, cols int)
TEXT ·weigh32AVX512(SB), NOSPLIT, $0-88
	MOVQ dst+0(FP), R13
	MOVQ step+8(FP), R8
	MOVQ src+24(FP), R15
	MOVQ move+32(FP), R9
	MOVQ weights+64(FP), DX
	LEAQ (R8)(R8*2), R11
	LEAQ (R9)(R9*2), R12

row32:
	MOVQ R13, DI
	MOVQ R15, SI
	MOVQ cols+80(FP), CX
	SUBQ $4, CX
	JLT  rest32

four32:
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7
	MOVQ taps+48(FP), R10
	MOVQ n+56(FP), BX

tap32:
	MOVQ (R10), AX
	ADDQ SI, AX
	MOVQ 8(R10), R14
	VMOVUPS (DX)(R14*1), Z16
	VMOVUPS 64(DX)(R14*1), Z17
	VFMADD231PS (AX), Z16, Z0
	VFMADD231PS 64(AX), Z17, Z1
	VFMADD231PS (AX)(R9*1), Z16, Z2
	VFMADD231PS 64(AX)(R9*1), Z17, Z3
	VFMADD231PS (AX)(R9*2), Z16, Z4
	VFMADD231PS 64(AX)(R9*2), Z17, Z5
	VFMADD231PS (AX)(R12*1), Z16, Z6
	VFMADD231PS 64(AX)(R12*1), Z17, Z7
	ADDQ $16, R10
	DECQ BX
	JNZ  tap32

	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, (DI)(R8*1)
	VMOVUPS Z3, 64(DI)(R8*1)
	VMOVUPS Z4, (DI)(R8*2)
	VMOVUPS Z5, 64(DI)(R8*2)
	VMOVUPS Z6, (DI)(R11*1)
	VMOVUPS Z7, 64(DI)(R11*1)
	LEAQ (DI)(R8*4), DI
	LEAQ (SI)(R9*4), SI
	SUBQ $4, CX
	JGE  four32

rest32:
	ADDQ $4, CX
	JZ   next32

one32:
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	MOVQ taps+48(FP), R10
	MOVQ n+56(FP), BX

tapone32:
	MOVQ (R10), AX
	ADDQ SI, AX
	MOVQ 8(R10), R14
	VMOVUPS (DX)(R14*1), Z16
	VMOVUPS 64(DX)(R14*1), Z17
	VFMADD231PS (AX), Z16, Z0
	VFMADD231PS 64(AX), Z17, Z1
	ADDQ $16, R10
	DECQ BX
	JNZ  tapone32

	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	ADDQ R8, DI
	ADDQ R9, SI
	DECQ CX
	JNZ  one32

next32:
	ADDQ row+16(FP), R13
	ADDQ fall+40(FP), R15
	DECQ rows+72(FP)
	JNZ  row32
	VZEROUPPER
	RET

// func weigh16AVX512(dst *float32, step, row int, src *float32, move, fall int, taps *int, n int, weights *float32, rows, cols int)
TEXT ·weigh16AVX512(SB), NOSPLIT, $0-88
	MOVQ dst+0(FP), R13
	MOVQ step+8(FP), R8
	MOVQ src+24(FP), R15
	MOVQ move+32(FP), R9
	MOVQ weights+64(FP), DX
	LEAQ (R8)(R8*2), R11
	LEAQ (R9)(R9*2), R12

row16:
	MOVQ R13, DI
	MOVQ R15, SI
	MOVQ cols+80(FP), CX
	SUBQ $4, CX
	JLT  rest16

four16:
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	MOVQ taps+48(FP), R10
	MOVQ n+56(FP), BX

tap16:
	MOVQ (R10), AX
	ADDQ SI, AX
	MOVQ 8(R10), R14
	VMOVUPS (DX)(R14*1), Z16
	VFMADD231PS (AX), Z16, Z0
	VFMADD231PS (AX)(R9*1), Z16, Z1
	VFMADD231PS (AX)(R9*2), Z16, Z2
	VFMADD231PS (AX)(R12*1), Z16, Z3
	ADDQ $16, R10
	DECQ BX
	JNZ  tap16

	VMOVUPS Z0, (DI)
	VMOVUPS Z1, (DI)(R8*1)
	VMOVUPS Z2, (DI)(R8*2)
	VMOVUPS Z3, (DI)(R11*1)
	LEAQ (DI)(R8*4), DI
	LEAQ (SI)(R9*4), SI
	SUBQ $4, CX
	JGE  four16

rest16:
	ADDQ $4, CX
	JZ   next16

one16:
	VPXORQ Z0, Z0, Z0
	MOVQ taps+48(FP), R10
	MOVQ n+56(FP), BX

tapone16:
	MOVQ (R10), AX
	ADDQ SI, AX
	MOVQ 8(R10), R14
	VMOVUPS (DX)(R14*1), Z16
	VFMADD231PS (AX), Z16, Z0
	ADDQ $16, R10
	DECQ BX
	JNZ  tapone16

	VMOVUPS Z0, (DI)
	ADDQ R8, DI
	ADDQ R9, SI
	DECQ CX
	JNZ  one16

next16:
	ADDQ row+16(FP), R13
	ADDQ fall+40(FP), R15
	DECQ rows+72(FP)
	JNZ  row16
	VZEROUPPER
	RET

// A pixel at a time: AX is how far what it reads is from the first, DX where its gradients
// are. R13 and R15 are those of its row.

// func unweigh32AVX512(sums *[together5 * slice]float32, dy *float32, width int, src *float32, move, fall int, at *[together5]int, rows, cols int)
TEXT ·unweigh32AVX512(SB), NOSPLIT, $0-72
	MOVQ dy+8(FP), R13
	MOVQ src+24(FP), SI
	MOVQ move+32(FP), DI
	MOVQ at+48(FP), BX
	MOVQ (BX), R8
	MOVQ 8(BX), R9
	MOVQ 16(BX), R10
	MOVQ 24(BX), R11
	MOVQ 32(BX), R12
	ADDQ SI, R8
	ADDQ SI, R9
	ADDQ SI, R10
	ADDQ SI, R11
	ADDQ SI, R12
	XORQ R15, R15
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7
	VPXORQ Z8, Z8, Z8
	VPXORQ Z9, Z9, Z9

unrow32:
	MOVQ R13, DX
	MOVQ R15, AX
	MOVQ cols+64(FP), CX

unpixel32:
	VMOVUPS (DX), Z16
	VMOVUPS 64(DX), Z17
	VFMADD231PS (R8)(AX*1), Z16, Z0
	VFMADD231PS 64(R8)(AX*1), Z17, Z1
	VFMADD231PS (R9)(AX*1), Z16, Z2
	VFMADD231PS 64(R9)(AX*1), Z17, Z3
	VFMADD231PS (R10)(AX*1), Z16, Z4
	VFMADD231PS 64(R10)(AX*1), Z17, Z5
	VFMADD231PS (R11)(AX*1), Z16, Z6
	VFMADD231PS 64(R11)(AX*1), Z17, Z7
	VFMADD231PS (R12)(AX*1), Z16, Z8
	VFMADD231PS 64(R12)(AX*1), Z17, Z9
	ADDQ $128, DX
	ADDQ DI, AX
	DECQ CX
	JNZ  unpixel32

	ADDQ width+16(FP), R13
	ADDQ fall+40(FP), R15
	DECQ rows+56(FP)
	JNZ  unrow32
	MOVQ sums+0(FP), DI
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, 128(DI)
	VMOVUPS Z3, 192(DI)
	VMOVUPS Z4, 256(DI)
	VMOVUPS Z5, 320(DI)
	VMOVUPS Z6, 384(DI)
	VMOVUPS Z7, 448(DI)
	VMOVUPS Z8, 512(DI)
	VMOVUPS Z9, 576(DI)
	VZEROUPPER
	RET

// func unweigh16AVX512(sums *[together5 * slice]float32, dy *float32, width int, src *float32, move, fall int, at *[together5]int, rows, cols int)
TEXT ·unweigh16AVX512(SB), NOSPLIT, $0-72
	MOVQ dy+8(FP), R13
	MOVQ src+24(FP), SI
	MOVQ move+32(FP), DI
	MOVQ at+48(FP), BX
	MOVQ (BX), R8
	MOVQ 8(BX), R9
	MOVQ 16(BX), R10
	MOVQ 24(BX), R11
	MOVQ 32(BX), R12
	ADDQ SI, R8
	ADDQ SI, R9
	ADDQ SI, R10
	ADDQ SI, R11
	ADDQ SI, R12
	XORQ R15, R15
	VPXORQ Z0, Z0, Z0
	VPXORQ Z2, Z2, Z2
	VPXORQ Z4, Z4, Z4
	VPXORQ Z6, Z6, Z6
	VPXORQ Z8, Z8, Z8

unrow16:
	MOVQ R13, DX
	MOVQ R15, AX
	MOVQ cols+64(FP), CX

unpixel16:
	VMOVUPS (DX), Z16
	VFMADD231PS (R8)(AX*1), Z16, Z0
	VFMADD231PS (R9)(AX*1), Z16, Z2
	VFMADD231PS (R10)(AX*1), Z16, Z4
	VFMADD231PS (R11)(AX*1), Z16, Z6
	VFMADD231PS (R12)(AX*1), Z16, Z8
	ADDQ $128, DX
	ADDQ DI, AX
	DECQ CX
	JNZ  unpixel16

	ADDQ width+16(FP), R13
	ADDQ fall+40(FP), R15
	DECQ rows+56(FP)
	JNZ  unrow16
	MOVQ sums+0(FP), DI
	VMOVUPS Z0, (DI)
	VMOVUPS Z2, 128(DI)
	VMOVUPS Z4, 256(DI)
	VMOVUPS Z6, 384(DI)
	VMOVUPS Z8, 512(DI)
	VZEROUPPER
	RET
